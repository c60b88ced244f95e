// Events as bytes, for spool files. The file does not outlive the process, so relations are not
// written: an event names one by its number in a table kept in memory
// (docs/storage_format_ingest.md).
#ifndef TIDEMARK_SERVER_INGEST_EVENT_CODEC_H_
#define TIDEMARK_SERVER_INGEST_EVENT_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "storage/tables/row_event.h"

namespace tidemark::ingest {

// The relations of one file, numbered as they come. Not thread-safe.
class SchemaTable {
 public:
  uint64_t NumberOf(const std::shared_ptr<const tables::RelationSchema>& schema);
  // nullptr when there is none of that number.
  std::shared_ptr<const tables::RelationSchema> Find(uint64_t number) const;

 private:
  std::vector<std::shared_ptr<const tables::RelationSchema>> schemas_;
  absl::flat_hash_map<const tables::RelationSchema*, uint64_t> numbers_;
};

// Appends the event.
void EncodeEvent(const tables::RowEvent& event, SchemaTable& schemas, std::string* out);
// Replaces `event`. DATA_DAMAGED for anything EncodeEvent does not write.
absl::Status DecodeEvent(std::string_view bytes, const SchemaTable& schemas,
                         tables::RowEvent* event);

// Roughly what the event takes in memory, its own object included.
size_t MemoryBytes(const tables::RowEvent& event);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_EVENT_CODEC_H_
