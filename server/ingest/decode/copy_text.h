// Rows of COPY ... TO STDOUT in text format.
#ifndef TIDEMARK_SERVER_INGEST_DECODE_COPY_TEXT_H_
#define TIDEMARK_SERVER_INGEST_DECODE_COPY_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/ingest/decode/pgoutput.h"

namespace tidemark::ingest {

// Not thread-safe; reused from row to row.
class CopyTextReader {
 public:
  // Splits one row (with or without its newline) into `columns` fields, null or text. Their views
  // point into `line` or into this object, and are good until the next Read. EVENT_MALFORMED for
  // another number of fields or a broken escape.
  absl::Status Read(std::string_view line, size_t columns, std::vector<pgoutput::Field>* fields);

 private:
  std::string unescaped_;
};

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_DECODE_COPY_TEXT_H_
