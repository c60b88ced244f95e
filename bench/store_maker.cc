#include "bench/store_maker.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"
#include "storage/tables/merging/merger.h"
#include "storage/tables/table_definition.h"

namespace tidemark::bench {

const char kTablesYaml[] = R"(
  - name: rows
    key: [id]
    tier: seconds
    readers: [default]
    columns: {id: int, customer: string, status: string, amount_minor: int, note: string}
    merge: last_row
    from: {source: bench, relation: public.rows}
)";

namespace {

constexpr uint64_t kRowsPerBatch = 20000;

std::shared_ptr<tables::RelationSchema> Schema() {
  auto schema = std::make_shared<tables::RelationSchema>();
  schema->source = "bench";
  schema->name = "public.rows";
  schema->columns = {{"id", tables::Kind::kInt, true, "bigint"},
                     {"customer", tables::Kind::kString, false, "text"},
                     {"status", tables::Kind::kString, false, "text"},
                     {"amount_minor", tables::Kind::kInt, false, "bigint"},
                     {"note", tables::Kind::kString, false, "text"}};
  return schema;
}

}  // namespace

absl::Status MakeStore(const std::string& dir, uint64_t rows) {
  state::StateOptions options;
  options.dir = dir;
  options.stamp_encoder = [](const state::SnapshotInfo&, std::string_view, bool) {
    return std::string();
  };
  TIDEMARK_ASSIGN_OR_RETURN(auto store, state::OpenLevelDbStore(options));
  TIDEMARK_ASSIGN_OR_RETURN(
      auto definitions, tables::ParseTableDefinitions(std::string_view(kTablesYaml), {"bench"}));
  state::StateWriter& writer = store->writer();
  TIDEMARK_ASSIGN_OR_RETURN(auto catalog, tables::Catalog::Open(std::move(definitions), writer));
  TIDEMARK_RETURN_IF_ERROR(writer.Commit({}));
  tables::Merger merger(*catalog, writer);
  const auto schema = Schema();
  const tables::EventOrigin origin{.source = "bench", .generation = 1, .copy = true};
  for (uint64_t first = 0; first < rows; first += kRowsPerBatch) {
    TIDEMARK_RETURN_IF_ERROR(writer.BeginSnapshot());
    for (uint64_t id = first; id < rows && id < first + kRowsPerBatch; ++id) {
      tables::RowEvent event;
      event.schema = schema;
      event.after = {tables::Datum::Int(static_cast<int64_t>(id)),
                     tables::Datum::String(absl::StrCat("C-", id % 50000)),
                     tables::Datum::String("released"),
                     tables::Datum::Int(static_cast<int64_t>(id * 7919 % 1000000)),
                     tables::Datum::String(std::string(96, static_cast<char>('a' + id % 26)))};
      TIDEMARK_RETURN_IF_ERROR(merger.Apply(event, origin));
    }
    TIDEMARK_RETURN_IF_ERROR(writer.EndSnapshot({.source = "bench"}).status());
    TIDEMARK_RETURN_IF_ERROR(writer.Commit({}));
  }
  TIDEMARK_RETURN_IF_ERROR(writer.BeginSnapshot());
  TIDEMARK_RETURN_IF_ERROR(writer.FinishLoading(catalog->Find("rows")->id));
  TIDEMARK_RETURN_IF_ERROR(writer.EndSnapshot({.source = "bench"}).status());
  return writer.Commit({});
}

}  // namespace tidemark::bench
