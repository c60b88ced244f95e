#include "server/services/row_reads.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "server/services/listing.h"
#include "server/services/wire.h"
#include "storage/tables/row_codec.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {
namespace {

// How many rows are read between two looks at whether the caller is still there.
constexpr size_t kRowsBetweenLooks = 256;

absl::Status TooLarge(size_t rows, size_t bytes) {
  return MakeError(Reason::kResponseTooLarge,
                   absl::StrCat("The first ", rows, " rows alone take ", bytes,
                                " bytes; an answer takes at most ", limits::kMaxPageBytes,
                                ". Ask for fewer rows or columns."),
                   {{"size", absl::StrCat(bytes)},
                    {"limit", absl::StrCat(limits::kMaxPageBytes)},
                    {"rows", absl::StrCat(rows)}});
}

// Appends a RowResult as field `results`.
void AppendResult(bool found, std::string_view row, state::SnapshotId version, std::string* out) {
  constexpr int kResults = v1::BatchGetRowsResponse::kResultsFieldNumber;
  if (!found) return AppendLength(kResults, 0, out);
  SmallWire tail;
  tail.Number(v1::RowResult::kRowVersionFieldNumber, version);
  AppendLength(kResults, FieldSize(row.size()) + tail.bytes().size(), out);
  AppendBytes(v1::RowResult::kRowFieldNumber, row, out);
  out->append(tail.bytes());
}

// Appends a KeyedRow as field `rows`; `scratch` is reused between rows.
absl::Status AppendKeyedRow(const tables::TableDefinition& table, std::string_view key,
                            std::string_view row, state::SnapshotId version, std::string* scratch,
                            std::string* out) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::vector<tables::Datum> values,
                            tables::DecodeKeyColumns(table, key));
  std::string keyed;
  for (const tables::Datum& value : values) {
    scratch->clear();
    tables::AppendValue(value, *scratch);
    AppendBytes(v1::KeyedRow::kKeyFieldNumber, *scratch, &keyed);
  }
  SmallWire tail;
  tail.Number(v1::KeyedRow::kRowVersionFieldNumber, version);
  AppendLength(v1::ScanRowsResponse::kRowsFieldNumber,
               keyed.size() + FieldSize(row.size()) + tail.bytes().size(), out);
  out->append(keyed);
  AppendBytes(v1::KeyedRow::kRowFieldNumber, row, out);
  out->append(tail.bytes());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RowTarget> RowReads::Target(const Principal& principal, const std::string& table,
                                           const Values& key, const Names& columns,
                                           std::string_view path) const {
  RowTarget target;
  TIDEMARK_ASSIGN_OR_RETURN(
      target.table, FindTable(catalog_, principal, table, absl::StrCat(ToAbsl(path), "table")));
  TIDEMARK_ASSIGN_OR_RETURN(target.key, ParseKey(*target.table, key, /*prefix=*/false,
                                                 absl::StrCat(ToAbsl(path), "key")));
  if (!columns.empty()) {
    TIDEMARK_ASSIGN_OR_RETURN(target.columns, ParseColumns(*target.table, columns,
                                                           absl::StrCat(ToAbsl(path), "columns")));
  }
  return target;
}

absl::StatusOr<ScanTarget> RowReads::ScanOf(const Principal& principal,
                                            const v1::ScanRowsRequest& request) const {
  ScanTarget target;
  TIDEMARK_ASSIGN_OR_RETURN(target.table, FindTable(catalog_, principal, request.table(), "table"));
  TIDEMARK_ASSIGN_OR_RETURN(
      target.prefix, ParseKey(*target.table, request.key_prefix(), /*prefix=*/true, "key_prefix"));
  TIDEMARK_ASSIGN_OR_RETURN(target.columns,
                            ParseColumns(*target.table, request.columns(), "columns"));
  TIDEMARK_ASSIGN_OR_RETURN(target.max_rows, PageSize(request.page_size()));
  return target;
}

absl::Status RowReads::Get(const ReadView& view, const RowTarget& target,
                           state::StoredRow* row) const {
  const absl::Status status = reader_.Get(view.point, target.table->id, target.key, row);
  return status.ok() ? status : Explain(status, *target.table);
}

absl::StatusOr<std::string> RowReads::Batch(const ReadView& view,
                                            const std::vector<RowTarget>& targets,
                                            const CallContext& context) const {
  std::string results;
  std::string scratch;
  state::StoredRow row;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (i % kRowsBetweenLooks == kRowsBetweenLooks - 1 && context.cancelled()) {
      return absl::CancelledError("The caller gave up.");
    }
    TIDEMARK_RETURN_IF_ERROR(Get(view, targets[i], &row));
    TIDEMARK_ASSIGN_OR_RETURN(const std::string_view shown,
                              ShownRow(row.bytes(), targets[i].columns, &scratch));
    if (i == 1) results.reserve(results.size() * (targets.size() + 1));  // rows are much alike
    AppendResult(row.found(), shown, row.version(), &results);
    if (results.size() > limits::kMaxPageBytes) return TooLarge(i + 1, results.size());
  }
  return results;
}

absl::StatusOr<ScanPage> RowReads::Scan(const ReadView& view, const ScanTarget& target,
                                        const CallContext& context) const {
  absl::StatusOr<std::unique_ptr<state::RowCursor>> opened =
      reader_.Scan(view.point, target.table->id, {.prefix = target.prefix, .after = target.after});
  if (!opened.ok()) return Explain(opened.status(), *target.table);
  state::RowCursor& cursor = **opened;
  ScanPage page;
  std::string scratch, selected, last;
  size_t rows = 0;
  for (; cursor.Valid(); cursor.Next()) {
    if (rows % kRowsBetweenLooks == kRowsBetweenLooks - 1 && context.cancelled()) {
      return absl::CancelledError("The caller gave up.");
    }
    TIDEMARK_ASSIGN_OR_RETURN(const std::string_view shown,
                              ShownRow(cursor.row().bytes(), target.columns, &selected));
    const size_t before = page.rows.size();
    TIDEMARK_RETURN_IF_ERROR(AppendKeyedRow(target.table->definition, cursor.key(), shown,
                                            cursor.row().version(), &scratch, &page.rows));
    if (rows == target.max_rows || (rows > 0 && page.rows.size() > limits::kMaxPageBytes)) {
      page.rows.resize(before);
      page.has_more = true;
      page.last_key = std::move(last);
      return page;
    }
    last = cursor.key();
    ++rows;
  }
  TIDEMARK_RETURN_IF_ERROR(Explain(cursor.status(), *target.table));
  return page;
}

absl::Status RowReads::Explain(const absl::Status& status, const tables::Table& table) const {
  return ExplainTableError(status, table, catalog_, sources_, reader_);
}

}  // namespace tidemark::services
