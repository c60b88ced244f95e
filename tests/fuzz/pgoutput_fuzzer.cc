// pgoutput messages from hostile bytes, and every text field of a row as a value of every form.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "server/ingest/decode/copy_text.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/decode/pgoutput.h"
#include "server/ingest/decode/replication_frame.h"

namespace {

using tidemark::ingest::BuiltinPgType;
using tidemark::ingest::ParsePgText;
using tidemark::ingest::pgoutput::Field;
using tidemark::ingest::pgoutput::FieldKind;

void ParseFields(const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (field.kind != FieldKind::kText) continue;
    for (const char* type : {"bool", "int8", "float8", "numeric", "text", "char", "bytea", "date",
                             "time", "timestamptz", "jsonb", "_int4", "_text", "_box", "_date"}) {
      ParsePgText(*BuiltinPgType(type), field.bytes).IgnoreError();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tidemark::ingest::pgoutput::Message message;
  if (tidemark::ingest::pgoutput::Parse(bytes, &message).ok()) {
    if (const auto* row = std::get_if<tidemark::ingest::pgoutput::RowChange>(&message)) {
      ParseFields(row->before);
      ParseFields(row->after);
    }
  }
  tidemark::ingest::ReplicationFrame frame;
  tidemark::ingest::ParseReplicationFrame(bytes, &frame).IgnoreError();
  // The same bytes as a row of a copy.
  tidemark::ingest::CopyTextReader reader;
  std::vector<Field> fields;
  if (reader.Read(bytes, size % 5, &fields).ok()) ParseFields(fields);
  return 0;
}
