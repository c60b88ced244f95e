#include "server/state_metrics.h"

#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace tidemark {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Families in the order in which they are first named.
class Families {
 public:
  void Add(MetricType type, const std::string& name, const std::string& help,
           const NumberMetrics::Labels& labels, double value) {
    ClientMetric metric;
    for (const auto& [key, text] : labels) metric.label.push_back({key, text});
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    FamilyOf(type, name, help).metric.push_back(std::move(metric));
  }
  void Gauge(const std::string& name, const std::string& help, double value,
             const NumberMetrics::Labels& labels = {}) {
    Add(MetricType::Gauge, name, help, labels, value);
  }
  void Counter(const std::string& name, const std::string& help, double value,
               const NumberMetrics::Labels& labels = {}) {
    Add(MetricType::Counter, name, help, labels, value);
  }
  std::vector<MetricFamily> Release() { return std::move(families_); }

 private:
  MetricFamily& FamilyOf(MetricType type, const std::string& name, const std::string& help) {
    for (MetricFamily& family : families_) {
      if (family.name == name) return family;
    }
    families_.push_back({name, help, type, {}});
    return families_.back();
  }

  std::vector<MetricFamily> families_;
};

double Number(uint64_t n) { return static_cast<double>(n); }
double Seconds(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }

// A log position such as "0/16B3748" as a number that can be graphed; false for other texts.
bool PositionNumber(const std::string& position, double* out) {
  const std::vector<std::string> halves = absl::StrSplit(position, '/');
  uint32_t high = 0;
  uint32_t low = 0;
  if (halves.size() != 2 || !absl::SimpleHexAtoi(halves[0], &high) ||
      !absl::SimpleHexAtoi(halves[1], &low)) {
    return false;
  }
  *out = Number((uint64_t{high} << 32) | low);
  return true;
}

void AddSource(const ingest::SourceStatus& status, absl::Time now, Families& families) {
  using ingest::SourceState;
  const NumberMetrics::Labels labels = {{"source", status.name}};
  for (SourceState state : {SourceState::kStarting, SourceState::kCopying, SourceState::kStreaming,
                            SourceState::kPaused, SourceState::kRetrying, SourceState::kGap,
                            SourceState::kFenced, SourceState::kFailed}) {
    NumberMetrics::Labels with_state = labels;
    with_state.emplace_back("state", ingest::SourceStateName(state));
    families.Gauge("tidemark_source_state", "1 for the state the source is in.",
                   status.state == state ? 1 : 0, with_state);
  }
  double position = 0;
  if (PositionNumber(status.position, &position)) {
    families.Gauge("tidemark_source_applied_position",
                   "Position up to which everything is applied and durable, as a number.", position,
                   labels);
  }
  if (status.fresh_as_of != absl::InfinitePast()) {
    families.Gauge("tidemark_source_lag_seconds",
                   "Age of the newest time at which everything committed was known to be applied.",
                   absl::ToDoubleSeconds(now - status.fresh_as_of), labels);
  }
  if (status.last_event_time != absl::InfinitePast()) {
    families.Gauge("tidemark_source_last_event_timestamp_seconds",
                   "Time of the last applied event, by the source's clock.",
                   Seconds(status.last_event_time), labels);
  }
  if (status.last_applied_time != absl::InfinitePast()) {
    families.Gauge("tidemark_source_last_applied_timestamp_seconds",
                   "When the last event was applied.", Seconds(status.last_applied_time), labels);
  }
  families.Counter("tidemark_source_events_total", "Events applied since start.",
                   Number(status.events), labels);
  families.Counter("tidemark_source_transactions_total", "Source transactions applied since start.",
                   Number(status.transactions), labels);
  families.Gauge("tidemark_source_retained_bytes",
                 "What the system of record keeps for this source (slot lag).",
                 Number(status.retained_bytes), labels);
  families.Gauge("tidemark_source_degraded", "1 while the source's tables are degraded.",
                 status.degraded ? 1 : 0, labels);
  for (const ingest::RelationProgress& relation : status.relations) {
    families.Gauge("tidemark_source_relation_rows_copied", "Rows copied of a relation.",
                   Number(relation.rows_copied),
                   {{"source", status.name}, {"relation", relation.relation}});
  }
}

// The words of a file under /proc.
std::vector<std::string> ProcWords(const char* path) {
  std::ifstream in(path);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

void NumberMetrics::Gauge(std::string name, std::string help, Labels labels,
                          std::function<double()> read) {
  series_.push_back({std::move(name), std::move(help), false, std::move(labels), std::move(read)});
}

void NumberMetrics::Counter(std::string name, std::string help, Labels labels,
                            std::function<double()> read) {
  series_.push_back({std::move(name), std::move(help), true, std::move(labels), std::move(read)});
}

std::vector<MetricFamily> NumberMetrics::Collect() const {
  Families families;
  for (const Series& series : series_) {
    families.Add(series.counter ? MetricType::Counter : MetricType::Gauge, series.name, series.help,
                 series.labels, series.read());
  }
  return families.Release();
}

std::vector<MetricFamily> StateMetrics::Collect() const {
  Families families;
  const state::PublicationPtr now = store_.reader().Latest();
  families.Gauge("tidemark_snapshot_newest", "Id of the newest snapshot.", Number(now->id()));
  families.Gauge("tidemark_snapshot_oldest", "Id of the oldest snapshot readable without a pin.",
                 Number(now->floor()));
  families.Gauge("tidemark_snapshot_newest_timestamp_seconds",
                 "When the newest snapshot was committed.", Seconds(now->info().commit_time));
  families.Gauge("tidemark_degraded_tables", "Tables with events that could not be applied.",
                 Number(now->info().degraded.size()));

  const state::StateCounters store = store_.Counters();
  families.Gauge("tidemark_store_bytes", "Size of the state on disk.", Number(store.disk_bytes));
  families.Gauge("tidemark_row_cache_bytes", "Memory of the row cache.",
                 Number(store.row_cache_bytes));
  families.Gauge("tidemark_row_cache_rows", "Rows in the row cache.", Number(store.row_cache_rows));
  const std::string ops = "tidemark_store_operations_total";
  const std::string help = "Operations on LevelDB and the row cache since start.";
  families.Counter(ops, help, Number(store.gets), {{"operation", "get"}});
  families.Counter(ops, help, Number(store.gets_from_row_cache), {{"operation", "row_cache_hit"}});
  families.Counter(ops, help, Number(store.seeks), {{"operation", "seek"}});
  families.Counter(ops, help, Number(store.scans), {{"operation", "scan"}});
  families.Counter(ops, help, Number(store.batches), {{"operation", "batch"}});
  families.Counter(ops, help, Number(store.syncs), {{"operation", "sync"}});
  families.Counter(ops, help, Number(store.chunks), {{"operation", "chunk"}});
  families.Counter(ops, help, Number(store.undone), {{"operation", "undo"}});
  families.Counter("tidemark_store_written_bytes_total", "Bytes of batches since start.",
                   Number(store.batch_bytes));

  const ingest::ApplierCounters applier = applier_.Counters();
  families.Counter("tidemark_applier_events_total", "Events applied since start.",
                   Number(applier.events));
  families.Counter("tidemark_applier_transactions_total", "Transactions applied since start.",
                   Number(applier.transactions));
  families.Counter("tidemark_applier_snapshots_total", "Snapshots made since start.",
                   Number(applier.snapshots));
  families.Counter("tidemark_applier_batches_total", "Synced batches since start.",
                   Number(applier.batches));
  families.Counter("tidemark_applier_rejected_total", "Works refused since start.",
                   Number(applier.rejected));
  families.Gauge("tidemark_queue_depth", "What waits in a bounded queue.",
                 Number(applier.queued_works), {{"queue", "applier"}});
  families.Gauge("tidemark_applier_queued_bytes", "Memory of events that wait to be applied.",
                 Number(applier.queued_bytes));
  return families.Release();
}

std::vector<MetricFamily> SourceMetrics::Collect() const {
  Families families;
  const absl::Time now = clock_.Now();
  for (const auto& source : sources_.all()) AddSource(source->Status(), now, families);
  return families.Release();
}

std::vector<MetricFamily> ProcessMetrics::Collect() const {
  Families families;
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) == 0) {
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    families.Counter("process_cpu_seconds_total", "User and system time.",
                     seconds(used.ru_utime) + seconds(used.ru_stime));
  }
  uint64_t pages[2] = {0, 0};
  const std::vector<std::string> memory = ProcWords("/proc/self/statm");
  if (memory.size() >= 2 && absl::SimpleAtoi(memory[0], &pages[0]) &&
      absl::SimpleAtoi(memory[1], &pages[1])) {
    const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
    families.Gauge("process_virtual_memory_bytes", "Virtual memory.", Number(pages[0]) * page);
    families.Gauge("process_resident_memory_bytes", "Resident memory.", Number(pages[1]) * page);
  }
  std::error_code error;
  size_t open_files = 0;
  for (auto file = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    ++open_files;
  }
  families.Gauge("process_open_fds", "Open file descriptors.", Number(open_files));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    families.Gauge("process_max_fds", "Most open file descriptors.", Number(limit.rlim_cur));
  }
  return families.Release();
}

}  // namespace tidemark
