// How fast one core turns what PostgreSQL sends into row events: pgoutput messages of a stream, and
// lines of a copy.
//
//   decode_bench --benchmark_min_time=2
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "server/ingest/decode/copy_text.h"
#include "server/ingest/decode/pg_types.h"
#include "server/ingest/decode/pgoutput.h"
#include "server/ingest/decode/row_decoder.h"

namespace tidemark::bench {
namespace {

using ingest::BuiltinPgType;

struct Column {
  const char* name;
  const char* type;
  const char* value;
};
// A row as a system of record has it.
constexpr Column kOrder[] = {
    {"order_id", "int8", "9007199254740993"},
    {"customer_id", "text", "C-0012345"},
    {"status", "varchar", "released"},
    {"total_minor", "int8", "1234500"},
    {"discount", "numeric", "12.50"},
    {"placed_at", "timestamptz", "2024-02-03 04:05:06.789012+00"},
    {"due", "date", "2024-03-04"},
    {"note", "text", "Leave it with the neighbour at number 12, please."},
};

ingest::RowDecoder MakeDecoder() {
  auto schema = std::make_shared<tables::RelationSchema>();
  schema->source = "erp";
  schema->name = "public.orders";
  std::vector<ingest::PgTypePtr> types;
  for (const Column& column : kOrder) {
    types.push_back(BuiltinPgType(column.type));
    schema->columns.push_back({column.name, KindOf(*types.back()), schema->columns.empty(), ""});
  }
  std::vector<bool> wanted(types.size(), true);
  return ingest::RowDecoder(std::move(schema), std::move(types), std::move(wanted));
}

void AppendNumber(uint64_t number, int bytes, std::string* out) {
  while (bytes-- > 0) out->push_back(static_cast<char>(number >> (8 * bytes)));
}

std::string UpdateMessage() {
  std::string message = "U";
  AppendNumber(16385, 4, &message);
  message += 'N';
  AppendNumber(std::size(kOrder), 2, &message);
  for (const Column& column : kOrder) {
    message += 't';
    AppendNumber(std::string_view(column.value).size(), 4, &message);
    message += column.value;
  }
  return message;
}

void BM_DecodeUpdates(benchmark::State& state) {
  const ingest::RowDecoder decoder = MakeDecoder();
  const std::string bytes = UpdateMessage();
  ingest::pgoutput::Message message;
  for (auto _ : state) {
    TIDEMARK_CHECK(ingest::pgoutput::Parse(bytes, &message).ok());
    auto event = decoder.Decode(std::get<ingest::pgoutput::RowChange>(message));
    TIDEMARK_CHECK(event.ok());
    benchmark::DoNotOptimize(event);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK(BM_DecodeUpdates);

void BM_DecodeCopiedRows(benchmark::State& state) {
  const ingest::RowDecoder decoder = MakeDecoder();
  std::string line;
  for (const Column& column : kOrder)
    line += (line.empty() ? "" : "\t") + std::string(column.value);
  line += '\n';
  ingest::CopyTextReader reader;
  std::vector<ingest::pgoutput::Field> fields;
  for (auto _ : state) {
    TIDEMARK_CHECK(reader.Read(line, std::size(kOrder), &fields).ok());
    auto event = decoder.DecodeCopied(fields);
    TIDEMARK_CHECK(event.ok());
    benchmark::DoNotOptimize(event);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(line.size()));
}
BENCHMARK(BM_DecodeCopiedRows);

}  // namespace
}  // namespace tidemark::bench

BENCHMARK_MAIN();
