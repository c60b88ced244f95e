// P10 inside one process: decoded events through applier, merger and LevelDB store, against raw
// LevelDB writing exactly the batches that made, without any of the reads and the work between.
//
//   ingest_bench --keys 1000000 --events 400000 --rounds 3
//
// Updates go to uniformly random rows of one last_row table. Rounds of ours and of the peer take
// turns, and the peer starts from a copy of our directory, so both databases have the same shape.
// Two rates of each: until the last event is durable, and until LevelDB has also caught up with the
// compactions that the round made. The peer leaves nearly all of those for later and we do not, as
// we are slower: only the second says what either could keep up (`sustained`).
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/log_capture.h"
#include "bench/report.h"
#include "common/check.h"
#include "common/mutex.h"
#include "server/ingest/applier.h"
#include "server/ingest/assembler.h"
#include "storage/state/coding.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/disk/pread_env.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"

ABSL_FLAG(uint64_t, keys, 1000000, "rows that exist before the updates");
ABSL_FLAG(uint64_t, events, 400000, "updates of a round");
ABSL_FLAG(uint64_t, rounds, 3, "rounds; the median counts");
ABSL_FLAG(uint64_t, transaction_events, 1, "events of one source transaction");
ABSL_FLAG(bool, read_ahead, true, "whether rows are read ahead of the applier");
ABSL_FLAG(std::string, dir, "/tmp/tidemark-ingest-bench", "emptied and used for both databases");

namespace tidemark::bench {
namespace {

using tables::Datum;
using tables::Kind;

constexpr char kTables[] = R"(
- name: orders
  key: [order_id]
  tier: seconds
  readers: [default]
  columns:
    order_id: int
    customer_id: string
    status: string
    total_minor: int
    placed_at: timestamp
    note: string
  merge: last_row
  from: {source: erp, relation: public.orders}
)";

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of the calling thread: LevelDB compacts on one of its own, for both sides alike.
double ThreadCpuSeconds() {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Makes events whose Debezium JSON form would be about 300 bytes.
class EventMaker {
 public:
  EventMaker() {
    auto schema = std::make_shared<tables::RelationSchema>();
    schema->source = "erp";
    schema->name = "public.orders";
    schema->columns = {{"order_id", Kind::kInt, true},  {"customer_id", Kind::kString},
                       {"status", Kind::kString},       {"total_minor", Kind::kInt},
                       {"placed_at", Kind::kTimestamp}, {"note", Kind::kString}};
    schema_ = std::move(schema);
  }

  tables::RowEvent Make(int64_t key) {
    ++number_;
    tables::RowEvent event;
    event.op = tables::EventOp::kUpdate;
    event.schema = schema_;
    event.after = {Datum::Int(key),
                   Datum::String(absl::StrCat("C-", key % 50000)),
                   Datum::String(number_ % 3 == 0 ? "released" : "new"),
                   Datum::Int(static_cast<int64_t>(number_ * 7919 % 10000000)),
                   Datum::Timestamp(1700000000000000 + static_cast<int64_t>(number_)),
                   Datum::String(absl::StrFormat("change %050d", number_))};
    state::AppendBigEndian64(&event.sequence, number_);
    return event;
  }
  tables::RowEvent MakeRandom(uint64_t keys) {
    return Make(static_cast<int64_t>(random_() % keys));
  }
  uint64_t number() const { return number_; }

 private:
  std::shared_ptr<const tables::RelationSchema> schema_;
  uint64_t number_ = 0;
  std::mt19937_64 random_{42};
};

// Our side: store, catalog and applier over one directory.
class Engine {
 public:
  Engine(const std::string& dir, leveldb::Env* env) {
    state::StateOptions options;
    options.dir = dir;
    options.env = env;
    options.stamp_encoder = [](const state::SnapshotInfo&, std::string_view token, bool) {
      return std::string(token);
    };
    auto store = state::OpenLevelDbStore(std::move(options));
    TIDEMARK_CHECK(store.ok());
    store_ = *std::move(store);
    auto definitions = tables::ParseTableDefinitions(kTables, {"erp"});
    TIDEMARK_CHECK(definitions.ok());
    auto catalog = tables::Catalog::Open(*std::move(definitions), store_->writer());
    TIDEMARK_CHECK(catalog.ok());
    catalog_ = *std::move(catalog);
    ingest::ApplierOptions applier_options;
    if (!absl::GetFlag(FLAGS_read_ahead)) applier_options.read_ahead_works = SIZE_MAX;
    applier_ = ingest::MakeApplier(*catalog_, *store_, applier_options);
    TIDEMARK_CHECK(applier_->Start().ok());
  }

  ingest::Work MakeWork(ingest::WorkKind kind, uint64_t number) {
    ingest::Work work;
    work.kind = kind;
    work.source = "erp";
    state::AppendBigEndian64(&work.position, number);
    work.origin.source = "erp";
    work.origin.position = work.position;
    work.state.emplace_back(ingest::PartitionKey("erp"), work.position);
    return work;
  }

  void Queue(ingest::Work work) {
    {
      MutexLock lock(mutex_);
      ++pending_;
    }
    work.done = [this](const absl::Status& status) {
      TIDEMARK_CHECK(status.ok());
      MutexLock lock(mutex_);
      applier_cpu_seconds_ = ThreadCpuSeconds();
      if (--pending_ == 0) idle_.NotifyAll();
    };
    TIDEMARK_CHECK(applier_->Queue(std::move(work)).ok());
  }

  void Wait() {
    MutexLock lock(mutex_);
    while (pending_ > 0) idle_.Wait(mutex_);
  }

  // Of the applier's thread, up to the newest work that is done.
  double applier_cpu_seconds() {
    MutexLock lock(mutex_);
    return applier_cpu_seconds_;
  }
  void Compact() { store_->Compact(); }

 private:
  Mutex mutex_;
  CondVar idle_;
  uint64_t pending_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  double applier_cpu_seconds_ TIDEMARK_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<state::LevelDbStore> store_;
  std::unique_ptr<tables::Catalog> catalog_;
  std::unique_ptr<ingest::Applier> applier_;
};

void Load(Engine& engine, EventMaker& maker, uint64_t keys) {
  constexpr uint64_t kRowsOfAWork = 5000;
  for (uint64_t key = 0; key < keys;) {
    std::vector<tables::RowEvent> rows;
    for (; key < keys && rows.size() < kRowsOfAWork; ++key) {
      rows.push_back(maker.Make(static_cast<int64_t>(key)));
    }
    ingest::Work work = engine.MakeWork(ingest::WorkKind::kCopyRows, maker.number());
    work.origin.copy = true;
    work.events = ingest::MakeEventList(std::move(rows));
    engine.Queue(std::move(work));
  }
  ingest::Work end = engine.MakeWork(ingest::WorkKind::kCopyEnd, maker.number());
  end.copied = {{{"erp", "public.orders"}, 1}};
  engine.Queue(std::move(end));
  engine.Wait();
}

std::vector<ingest::Work> MakeWorks(Engine& engine, EventMaker& maker) {
  const uint64_t keys = absl::GetFlag(FLAGS_keys), events = absl::GetFlag(FLAGS_events);
  const uint64_t size = absl::GetFlag(FLAGS_transaction_events);
  std::vector<ingest::Work> works;
  for (uint64_t made = 0; made < events; made += size) {
    std::vector<tables::RowEvent> transaction;
    for (uint64_t i = 0; i < size; ++i) transaction.push_back(maker.MakeRandom(keys));
    ingest::Work work = engine.MakeWork(ingest::WorkKind::kTransaction, maker.number());
    work.events = ingest::MakeEventList(std::move(transaction));
    works.push_back(std::move(work));
  }
  return works;
}

struct Round {
  double seconds = 0, cpu_seconds = 0, sustained_seconds = 0;
};

Round ApplyAll(Engine& engine, LogCapture& env, std::vector<ingest::Work> works) {
  const double start = Seconds(), cpu = engine.applier_cpu_seconds();
  for (ingest::Work& work : works) engine.Queue(std::move(work));
  engine.Wait();
  const double end = Seconds();
  env.WaitUntilCompacted();
  return {end - start, engine.applier_cpu_seconds() - cpu, Seconds() - start};
}

Round WriteAll(state::engine::Database& raw, LogCapture& env,
               std::vector<leveldb::WriteBatch>& batches) {
  const double start = Seconds(), cpu = ThreadCpuSeconds();
  for (leveldb::WriteBatch& batch : batches) TIDEMARK_CHECK(raw.Write(&batch).ok());
  const double end = Seconds(), end_cpu = ThreadCpuSeconds();
  env.WaitUntilCompacted();
  return {end - start, end_cpu - cpu, Seconds() - start};
}

// Makes both directories, with the same rows in the same shape.
void MakeDirectories(const std::string& ours, const std::string& raw, EventMaker& maker) {
  {
    Engine engine(ours, nullptr);
    const double start = Seconds();
    Load(engine, maker, absl::GetFlag(FLAGS_keys));
    std::cout << absl::StrFormat("{\"id\": \"load\", \"rows_per_second\": %.0f}",
                                 static_cast<double>(maker.number()) / (Seconds() - start))
              << std::endl;
    engine.Compact();
  }
  std::filesystem::copy(ours, raw, std::filesystem::copy_options::recursive);
}

void Run() {
  const std::string dir = absl::GetFlag(FLAGS_dir);
  const auto events = static_cast<double>(absl::GetFlag(FLAGS_events));
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  EventMaker maker;
  MakeDirectories(dir + "/ours", dir + "/raw", maker);

  LogCapture capture(state::engine::PreadEnv()), raw_capture(state::engine::PreadEnv());
  Engine engine(dir + "/ours", &capture);
  std::shared_ptr<state::engine::Database> raw;
  const state::engine::DatabaseOptions options{
      .dir = dir + "/raw",
      .block_cache_bytes = state::StateOptions().block_cache_bytes,
      .env = &raw_capture};
  TIDEMARK_CHECK(state::engine::Database::Open(options, &raw).ok());
  capture.Take();
  std::vector<double> rates, ratios, cpu_ratios, sustained_ratios;
  for (uint64_t round = 1; round <= absl::GetFlag(FLAGS_rounds); ++round) {
    const Round ours = ApplyAll(engine, capture, MakeWorks(engine, maker));
    std::vector<leveldb::WriteBatch> batches;
    size_t bytes = 0;
    for (const std::string& batch : capture.Take()) {
      batches.push_back(ParseBatch(batch));
      bytes += batch.size();
    }
    const Round peer = WriteAll(*raw, raw_capture, batches);
    raw_capture.Take();
    rates.push_back(events / ours.seconds);
    ratios.push_back(peer.seconds / ours.seconds);
    cpu_ratios.push_back(peer.cpu_seconds / ours.cpu_seconds);
    sustained_ratios.push_back(peer.sustained_seconds / ours.sustained_seconds);
    std::cout << absl::StrFormat(
                     "{\"round\": %d, \"events_per_second\": {\"ours\": %.0f, \"raw\": %.0f, "
                     "\"ratio\": %.3f}, \"sustained\": {\"ours\": %.0f, \"raw\": %.0f, "
                     "\"ratio\": %.3f}, \"writer_cpu_us_per_event\": {\"ours\": %.2f, \"raw\": "
                     "%.2f, \"ratio\": %.3f}, \"batches\": %d, \"bytes_per_event\": %.0f}",
                     round, rates.back(), events / peer.seconds, ratios.back(),
                     events / ours.sustained_seconds, events / peer.sustained_seconds,
                     sustained_ratios.back(), ours.cpu_seconds / events * 1e6,
                     peer.cpu_seconds / events * 1e6, cpu_ratios.back(), batches.size(),
                     static_cast<double>(bytes) / events)
              << std::endl;
  }
  std::cout << absl::StrFormat(
                   "{\"id\": \"P10 in process\", \"events_per_second\": %.0f, \"ratio\": %.3f, "
                   "\"sustained_ratio\": %.3f, \"writer_cpu_ratio\": %.3f, \"bar\": 0.3}",
                   Median(rates), Median(ratios), Median(sustained_ratios), Median(cpu_ratios))
            << std::endl;
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  tidemark::bench::Run();
  return 0;
}
