#include "bench/ingest_bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/log_capture.h"
#include "common/check.h"
#include "common/mutex.h"
#include "server/ingest/applier.h"
#include "server/ingest/assembler.h"
#include "storage/state/coding.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/disk/pread_env.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"

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

// Of this process, all threads.
double CpuSeconds() {
  rusage used{};
  TIDEMARK_CHECK(getrusage(RUSAGE_SELF, &used) == 0);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
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
    applier_ = ingest::MakeApplier(*catalog_, *store_, {});
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
      if (--pending_ == 0) idle_.NotifyAll();
    };
    TIDEMARK_CHECK(applier_->Queue(std::move(work)).ok());
  }

  void Wait() {
    MutexLock lock(mutex_);
    while (pending_ > 0) idle_.Wait(mutex_);
  }

  void Compact() { store_->Compact(); }

 private:
  Mutex mutex_;
  CondVar idle_;
  uint64_t pending_ TIDEMARK_GUARDED_BY(mutex_) = 0;
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

std::vector<ingest::Work> MakeWorks(Engine& engine, EventMaker& maker,
                                    const IngestBenchOptions& options) {
  std::vector<ingest::Work> works;
  for (uint64_t made = 0; made < options.events; ++made) {
    std::vector<tables::RowEvent> transaction;
    transaction.push_back(maker.MakeRandom(options.keys));
    ingest::Work work = engine.MakeWork(ingest::WorkKind::kTransaction, maker.number());
    work.events = ingest::MakeEventList(std::move(transaction));
    works.push_back(std::move(work));
  }
  return works;
}

struct Round {
  double seconds = 0, sustained_seconds = 0;
  double cpu_seconds = 0;  // until LevelDB has compacted
};

Round ApplyAll(Engine& engine, LogCapture& env, std::vector<ingest::Work> works) {
  const double start = Seconds(), cpu_start = CpuSeconds();
  for (ingest::Work& work : works) engine.Queue(std::move(work));
  engine.Wait();
  const double end = Seconds();
  env.WaitUntilCompacted();
  return {end - start, Seconds() - start, CpuSeconds() - cpu_start};
}

Round WriteAll(state::engine::Database& raw, LogCapture& env,
               std::vector<leveldb::WriteBatch>& batches) {
  const double start = Seconds(), cpu_start = CpuSeconds();
  for (leveldb::WriteBatch& batch : batches) TIDEMARK_CHECK(raw.Write(&batch).ok());
  const double end = Seconds();
  env.WaitUntilCompacted();
  return {end - start, Seconds() - start, CpuSeconds() - cpu_start};
}

// One way to measure the rounds: medians of both rates and of their ratios.
class Figure {
 public:
  void Add(double ours, double peer) {
    ours_.push_back(ours);
    peer_.push_back(peer);
    ratios_.push_back(ours / peer);
  }
  Result ToResult(std::string id, std::string what, double bar, std::string note) const {
    return {std::move(id),  std::move(what), "events/s", Median(peer_),
            Median(ours_),  Median(ratios_), bar,        /*lower_is_better=*/false,
            std::move(note)};
  }

  double ours() const { return Median(ours_); }
  double peer() const { return Median(peer_); }

 private:
  std::vector<double> ours_, peer_, ratios_;
};

// Both databases, with the same rows in the same shape.
class Databases {
 public:
  Databases(const std::string& dir, uint64_t keys) : dir_(dir) {
    Restart();
    Load(*engine_, maker_, keys);
    engine_->Compact();
    capture_.WaitUntilCompacted();
    // Nobody writes, and all that was written is synced.
    std::filesystem::copy(dir + "/ours", dir + "/raw", std::filesystem::copy_options::recursive);
    const state::engine::DatabaseOptions options{
        .dir = dir + "/raw",
        .block_cache_bytes = state::StateOptions().block_cache_bytes,
        .env = &raw_capture_};
    TIDEMARK_CHECK(state::engine::Database::Open(options, &raw_).ok());
  }

  // Ours begins anew, with nothing in its caches.
  void Restart() {
    engine_.reset();
    engine_ = std::make_unique<Engine>(dir_ + "/ours", &capture_);
  }

  // A round of ours, then one of the peer that writes the same.
  std::pair<Round, Round> Run(const IngestBenchOptions& options) {
    capture_.Take();
    const Round ours = ApplyAll(*engine_, capture_, MakeWorks(*engine_, maker_, options));
    std::vector<leveldb::WriteBatch> batches;
    for (const std::string& batch : capture_.Take()) batches.push_back(ParseBatch(batch));
    const Round peer = WriteAll(*raw_, raw_capture_, batches);
    raw_capture_.Take();
    return {ours, peer};
  }

 private:
  const std::string dir_;
  EventMaker maker_;
  LogCapture capture_{state::engine::PreadEnv()}, raw_capture_{state::engine::PreadEnv()};
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<state::engine::Database> raw_;
};

// What the rounds of one kind say.
class Rounds {
 public:
  explicit Rounds(const IngestBenchOptions& options) : options_(options) {}

  void Add(const std::pair<Round, Round>& round) {
    const auto& [ours, peer] = round;
    const auto events = static_cast<double>(options_.events);
    durable_.Add(events / ours.seconds, events / peer.seconds);
    sustained_.Add(events / ours.sustained_seconds, events / peer.sustained_seconds);
    cpu_.Add(ours.cpu_seconds * 1e6 / events, peer.cpu_seconds * 1e6 / events);
  }
  void AppendTo(std::vector<Result>& results, const std::string& id,
                const std::string& what) const {
    results.push_back(durable_.ToResult(id, what + ", until durable", options_.bar,
                                        "decoded events; the peer leaves its compactions for "
                                        "later"));
    results.push_back(sustained_.ToResult(
        id + " sustained", "the same, until LevelDB has compacted", options_.bar,
        absl::StrFormat("what either can keep up; %.1f us of CPU an event, "
                        "compactions included, the peer %.1f",
                        cpu_.ours(), cpu_.peer())));
  }

 private:
  const IngestBenchOptions& options_;
  Figure durable_, sustained_, cpu_;
};

}  // namespace

std::vector<Result> RunIngest(const IngestBenchOptions& options) {
  const std::string dir = options.work_dir + "/ingest";
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  Rounds following(options), restarted(options);
  {
    Databases databases(dir, options.keys);
    for (int round = 0; round < options.rounds; ++round) following.Add(databases.Run(options));
    for (int round = 0; round < options.rounds; ++round) {
      databases.Restart();
      restarted.Add(databases.Run(options));
    }
  }
  std::filesystem::remove_all(dir);
  std::vector<Result> results;
  following.AppendTo(results, "P10", "updates of rows that were copied");
  restarted.AppendTo(results, "P10 restarted", "the same, right after a start");
  return results;
}

}  // namespace tidemark::bench
