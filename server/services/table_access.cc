#include "server/services/table_access.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/read_errors.h"
#include "server/read_point.h"
#include "server/services/convert.h"
#include "storage/tables/row_codec.h"
#include "tidemark/v1/value.pb.h"

namespace tidemark::services {
namespace {

// "a, b, c" of the first names; details are trailers and must stay small.
template <typename Container, typename NameOf>
std::string FirstNames(const Container& items, std::string_view separator, const NameOf& name_of) {
  std::string out;
  size_t count = 0;
  for (const auto& item : items) {
    if (count++ == limits::kMaxErrorListNames) break;
    absl::StrAppend(&out, count == 1 ? "" : ToAbsl(separator), name_of(item));
  }
  return out;
}

// "customer_id string, day date".
std::string KeyColumns(const tables::TableDefinition& table) {
  std::string out;
  for (const std::string& name : table.key) {
    const tables::ColumnDefinition* column = table.FindColumn(name);
    absl::StrAppend(&out, out.empty() ? "" : ", ", name, " ",
                    ToAbsl(tables::KindName(column->type)));
  }
  return out;
}

absl::Status KeyError(const absl::Status& status, const tables::Table& table,
                      std::string_view field) {
  const std::string problem(ToStd(status.message()));
  ErrorMetadata metadata = {{"table", table.definition.name},
                            {"key_columns", KeyColumns(table.definition)},
                            {"problem", problem},
                            {"field", std::string(field)}};
  const std::string column = MetadataValue(status, "column");
  if (!column.empty()) metadata.push_back({"column", column});
  return MakeError(Reason::kKeyMalformed,
                   absl::StrCat(ToAbsl(field), ": ", problem, " The key is (",
                                KeyColumns(table.definition), ")."),
                   std::move(metadata));
}

}  // namespace

bool MayRead(const tables::Table& table, const Principal& principal) {
  const std::vector<std::string>& readers = table.definition.readers;
  return std::find(readers.begin(), readers.end(), principal.tenant) != readers.end();
}

std::vector<const tables::Table*> ReadableTables(const tables::Catalog& catalog,
                                                 const Principal& principal) {
  std::vector<const tables::Table*> tables;
  for (const auto& table : catalog.tables()) {
    if (MayRead(*table, principal)) tables.push_back(table.get());
  }
  std::sort(tables.begin(), tables.end(), [](const tables::Table* a, const tables::Table* b) {
    return a->definition.name < b->definition.name;
  });
  return tables;
}

absl::StatusOr<const tables::Table*> FindTable(const tables::Catalog& catalog,
                                               const Principal& principal, std::string_view name,
                                               std::string_view field) {
  const tables::Table* table = catalog.Find(name);
  if (table != nullptr && MayRead(*table, principal)) return table;
  const std::string shown = Printable(name);
  if (table != nullptr) {
    return MakeError(Reason::kTableForbidden,
                     absl::StrCat("Table ", shown, " does not list tenant ",
                                  Printable(principal.tenant), " as a reader."),
                     {{"table", shown}, {"tenant", Printable(principal.tenant)}});
  }
  if (name.empty()) return FieldInvalid(field, "is required: the name of a table.");
  const std::vector<const tables::Table*> known = ReadableTables(catalog, principal);
  const auto name_of = [](const tables::Table* t) { return ToAbsl(t->definition.name); };
  return MakeError(Reason::kTableNotFound,
                   absl::StrCat("There is no table ", Quoted(name), ". You may read ", known.size(),
                                known.empty() ? "" : ": ", FirstNames(known, ", ", name_of), "."),
                   {{"table", shown},
                    {"tables", FirstNames(known, ",", name_of)},
                    {"table_count", absl::StrCat(known.size())},
                    {"field", std::string(field)}});
}

absl::StatusOr<std::string> ParseKey(const tables::Table& table, const Values& key, bool prefix,
                                     std::string_view field) {
  std::vector<const v1::Value*> values;
  values.reserve(key.size());
  for (const v1::Value& value : key) values.push_back(&value);
  absl::StatusOr<std::string> encoded = tables::EncodeKey(table.definition, values, prefix);
  if (!encoded.ok()) return KeyError(encoded.status(), table, field);
  return encoded;
}

absl::StatusOr<std::vector<int>> ParseColumns(const tables::Table& table, const Names& columns,
                                              std::string_view field) {
  std::vector<int> indexes;
  indexes.reserve(columns.size());
  for (const std::string& name : columns) {
    const int index = table.definition.ColumnIndex(name);
    if (index >= 0) {
      indexes.push_back(index);
      continue;
    }
    const auto& known = table.definition.columns;
    const auto name_of = [](const tables::ColumnDefinition& c) { return ToAbsl(c.name); };
    const std::string problem =
        absl::StrCat("table ", table.definition.name, " has no column ", Quoted(name), "; it has ",
                     known.size(), ": ", FirstNames(known, ", ", name_of),
                     known.size() > limits::kMaxErrorListNames ? ", ... (see GetTable)." : ".");
    return MakeError(Reason::kFieldInvalid, absl::StrCat(ToAbsl(field), ": ", problem),
                     {{"field", std::string(field)},
                      {"problem", problem},
                      {"column", Printable(name)},
                      {"columns", FirstNames(known, ",", name_of)},
                      {"column_count", absl::StrCat(known.size())}});
  }
  std::sort(indexes.begin(), indexes.end());
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  return indexes;
}

absl::StatusOr<std::string_view> ShownRow(std::string_view row, const std::vector<int>& columns,
                                          std::string* scratch) {
  if (columns.empty()) return row;
  scratch->clear();
  TIDEMARK_RETURN_IF_ERROR(tables::SelectColumns(row, columns, scratch));
  return std::string_view(*scratch);
}

absl::Status ExplainTableError(const absl::Status& status, const tables::Table& table,
                               const tables::Catalog& catalog, const ingest::SourceSet& sources,
                               const state::StateReader& reader) {
  const std::string& name = table.definition.name;
  switch (ReasonOf(status)) {
    case Reason::kTableLoading: {
      const tables::Table* const tables[] = {&table};
      const CopyProgress progress = ProgressOf(table, StatusOfSources(catalog, sources, tables));
      return MakeError(Reason::kTableLoading,
                       absl::StrCat("Table ", name, " is being copied for the first time: ",
                                    progress.rows_copied, " rows",
                                    progress.rows_estimated > 0
                                        ? absl::StrCat(" of about ", progress.rows_estimated)
                                        : "",
                                    "."),
                       {{"table", name},
                        {"rows_copied", absl::StrCat(progress.rows_copied)},
                        {"rows_estimated", absl::StrCat(progress.rows_estimated)}},
                       absl::Seconds(1));
    }
    case Reason::kSnapshotExpired:
      return ExplainExpired(
          reader, status,
          MetadataValue(status, "table_id").empty()
              ? absl::StrCat("That state of table ", name, " is no longer kept")
              : absl::StrCat("Table ", name,
                             " is younger than that snapshot and had no state at it"));
    default:
      return status;
  }
}

absl::Status NotYetActedOn(std::string_view field) {
  return FieldInvalid(field, "not yet available in this version; leave it unset.");
}

}  // namespace tidemark::services
