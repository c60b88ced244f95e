// What /metrics says of the state and of what feeds it: snapshots, store, applier, sources; and of
// the process itself.
#ifndef TIDEMARK_SERVER_STATE_METRICS_H_
#define TIDEMARK_SERVER_STATE_METRICS_H_

#include <prometheus/collectable.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "server/ingest/applier.h"
#include "server/ingest/source.h"
#include "storage/state/state_store.h"

namespace tidemark {

// Numbers that are read when somebody looks. Not thread-safe while series are added.
class NumberMetrics final : public prometheus::Collectable {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  void Gauge(std::string name, std::string help, Labels labels, std::function<double()> read);
  void Counter(std::string name, std::string help, Labels labels, std::function<double()> read);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct Series {
    std::string name, help;
    bool counter;
    Labels labels;
    std::function<double()> read;
  };
  std::vector<Series> series_;
};

// Store, snapshots and applier. All outlive it.
class StateMetrics final : public prometheus::Collectable {
 public:
  StateMetrics(state::LevelDbStore& store, const ingest::Applier& applier)
      : store_(store), applier_(applier) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  state::LevelDbStore& store_;
  const ingest::Applier& applier_;
};

// One set of series per source.
class SourceMetrics final : public prometheus::Collectable {
 public:
  SourceMetrics(const ingest::SourceSet& sources, const Clock& clock)
      : sources_(sources), clock_(clock) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const ingest::SourceSet& sources_;
  const Clock& clock_;
};

// process_*: as every Prometheus client library names them.
class ProcessMetrics final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_STATE_METRICS_H_
