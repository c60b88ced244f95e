#include "storage/tables/row_codec.h"

#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "storage/state/coding.h"
#include "tidemark/v1/value.pb.h"

namespace tidemark::tables {
namespace {

// Field 1 of Row, fields 1 and 2 of its map entries; all of them length-delimited.
constexpr char kEntryTag = 0x0a;
constexpr char kNameTag = 0x0a;
constexpr char kValueTag = 0x12;

// Reads the next entry of a row; false when the bytes are not one.
bool ReadEntry(state::ByteReader& reader, RowEntry* entry) {
  const std::string_view before = reader.rest();
  uint8_t tag = 0;
  std::string_view body;
  if (!reader.ReadByte(&tag) || static_cast<char>(tag) != kEntryTag || !reader.ReadBytes(&body)) {
    return false;
  }
  entry->bytes = before.substr(0, before.size() - reader.rest().size());
  state::ByteReader inner(body);
  return inner.ReadByte(&tag) && static_cast<char>(tag) == kNameTag &&
         inner.ReadBytes(&entry->name) && inner.ReadByte(&tag) &&
         static_cast<char>(tag) == kValueTag && inner.ReadBytes(&entry->value) && inner.done();
}

absl::Status DamagedRow() {
  return MakeError(Reason::kDataDamaged, "A stored row does not decode.");
}

// Writes the length of what follows `at` into the one byte reserved at `at`, making room when it
// needs more: nearly every entry is shorter than 128 bytes.
void PatchLength(size_t at, std::string& out) {
  const size_t size = out.size() - at - 1;
  if (size < 0x80) {
    out[at] = static_cast<char>(size);
    return;
  }
  std::string length;
  state::AppendVarint(&length, size);
  out.replace(at, 1, length);
}

size_t OpenEntry(std::string_view name, std::string& out) {
  out += kEntryTag;
  const size_t at = out.size();
  out += '\0';
  out += kNameTag;
  state::AppendBytes(&out, name);
  out += kValueTag;
  return at;
}

absl::Status KeyMalformed(const TableDefinition& table, std::string_view problem) {
  return MakeError(Reason::kKeyMalformed,
                   "The key of table " + Quoted(table.name) + ": " + std::string(problem),
                   {{"table", table.name}});
}

absl::Status KeyMalformed(const TableDefinition& table, const ColumnDefinition& column,
                          const Datum& datum) {
  return MakeError(Reason::kKeyMalformed,
                   "Key column " + Quoted(column.name) + " of table " + Quoted(table.name) +
                       " is of type " + std::string(KindName(column.type)) +
                       "; the value given is " + std::string(KindName(datum.kind())) + ".",
                   {{"table", table.name}, {"column", column.name}});
}

// Whether a caller may write this value for a key column of this type.
bool FitsKey(Kind type, const Datum& datum) {
  return datum.kind() == type || (type == Kind::kDecimal && datum.kind() == Kind::kInt) ||
         (datum.kind() == Kind::kString && IsSpecialValue(type, datum.text()));
}

absl::Status CheckKeyCount(const TableDefinition& table, size_t given, bool prefix) {
  if (given == table.key.size() || (prefix && given < table.key.size())) return absl::OkStatus();
  std::string columns;
  for (const std::string& name : table.key) columns += (columns.empty() ? "" : ", ") + name;
  return KeyMalformed(table, (prefix ? "a prefix takes at most " : "it takes ") +
                                 std::to_string(table.key.size()) + " values (" + columns + "), " +
                                 std::to_string(given) + " were given.");
}

absl::Status AppendKeyColumn(const TableDefinition& table, size_t index, const Datum& datum,
                             state::KeyEncoder& key) {
  const ColumnDefinition& column = *table.FindColumn(table.key[index]);
  if (!FitsKey(column.type, datum)) return KeyMalformed(table, column, datum);
  if (column.type == Kind::kDecimal && datum.kind() == Kind::kInt) {
    return key.AddDecimal(std::to_string(datum.number()));
  }
  return AppendKey(datum, key);
}

absl::StatusOr<std::string> FinishKey(const TableDefinition& table, state::KeyEncoder& key) {
  if (key.bytes().size() <= limits::kMaxKeyBytes) return key.Release();
  return KeyMalformed(table, "it is " + std::to_string(key.bytes().size()) +
                                 " bytes long when encoded, at most " +
                                 std::to_string(limits::kMaxKeyBytes) + " are allowed.");
}

}  // namespace

void AppendEntry(std::string_view name, const Datum& value, std::string& out) {
  const size_t entry = OpenEntry(name, out);
  const size_t length = out.size();
  out += '\0';
  AppendValue(value, out);
  PatchLength(length, out);
  PatchLength(entry, out);
}

void AppendEncodedEntry(std::string_view name, std::string_view value, std::string& out) {
  const size_t entry = OpenEntry(name, out);
  state::AppendBytes(&out, value);
  PatchLength(entry, out);
}

absl::Status SplitRow(std::string_view wire, std::vector<RowEntry>* entries) {
  entries->clear();
  state::ByteReader reader(wire);
  while (!reader.done()) {
    if (!ReadEntry(reader, &entries->emplace_back())) return DamagedRow();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeRow(const TableDefinition& table, const std::vector<Datum>& row) {
  std::string out;
  for (size_t i = 0; i < table.columns.size(); ++i) AppendEntry(table.columns[i].name, row[i], out);
  TIDEMARK_RETURN_IF_ERROR(CheckRowSize(table, out.size()));
  return out;
}

absl::Status CheckRowSize(const TableDefinition& table, size_t bytes) {
  if (bytes <= limits::kMaxRowBytes) return absl::OkStatus();
  return MakeError(Reason::kValueTooLarge,
                   "A row of table " + Quoted(table.name) + " would be " + std::to_string(bytes) +
                       " bytes; at most " + std::to_string(limits::kMaxRowBytes) +
                       " can be stored. Leave large columns out of the table.",
                   {{"table", table.name}, {"bytes", std::to_string(bytes)}});
}

absl::StatusOr<std::vector<Datum>> DecodeRow(const TableDefinition& table, std::string_view wire) {
  state::ByteReader reader(wire);
  std::vector<Datum> row;
  row.reserve(table.columns.size());
  for (const ColumnDefinition& column : table.columns) {
    RowEntry entry;
    if (!ReadEntry(reader, &entry) || entry.name != column.name) return DamagedRow();
    TIDEMARK_ASSIGN_OR_RETURN(row.emplace_back(), ParseValue(entry.value));
  }
  if (!reader.done()) return DamagedRow();
  return row;
}

absl::Status SelectColumns(std::string_view wire, const std::vector<int>& columns,
                           std::string* out) {
  state::ByteReader reader(wire);
  RowEntry entry;
  int at = -1;
  for (const int column : columns) {
    for (; at < column; ++at) {
      if (!ReadEntry(reader, &entry)) return DamagedRow();
    }
    out->append(entry.bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeKey(const TableDefinition& table,
                                      const std::vector<const v1::Value*>& values, bool prefix) {
  TIDEMARK_RETURN_IF_ERROR(CheckKeyCount(table, values.size(), prefix));
  state::KeyEncoder key;
  for (size_t i = 0; i < values.size(); ++i) {
    auto datum = FromValue(*values[i], table.key[i]);
    if (!datum.ok()) {
      // Its message names the column too.
      return KeyMalformed(table, "column " + Quoted(table.key[i]) + ": " +
                                     MetadataValue(datum.status(), "problem"));
    }
    TIDEMARK_RETURN_IF_ERROR(AppendKeyColumn(table, i, *datum, key));
  }
  return FinishKey(table, key);
}

absl::StatusOr<std::string> EncodeKey(const TableDefinition& table, const std::vector<Datum>& key) {
  TIDEMARK_RETURN_IF_ERROR(CheckKeyCount(table, key.size(), /*prefix=*/false));
  state::KeyEncoder encoder;
  for (size_t i = 0; i < key.size(); ++i) {
    TIDEMARK_RETURN_IF_ERROR(AppendKeyColumn(table, i, key[i], encoder));
  }
  return FinishKey(table, encoder);
}

absl::StatusOr<std::vector<Datum>> DecodeKeyColumns(const TableDefinition& table,
                                                    std::string_view key) {
  const auto damaged = [] {
    return MakeError(Reason::kDataDamaged, "A stored key does not decode.");
  };
  auto elements = state::DecodeKey(key);
  if (!elements.ok() || elements->size() != table.key.size()) return damaged();
  std::vector<Datum> columns;
  columns.reserve(elements->size());
  for (size_t i = 0; i < elements->size(); ++i) {
    columns.push_back(FromKeyElement((*elements)[i]));
    if (!FitsKey(table.FindColumn(table.key[i])->type, columns.back())) return damaged();
  }
  return columns;
}

}  // namespace tidemark::tables
