#include "server/services/watch_hub.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "server/read_errors.h"
#include "server/services/table_access.h"
#include "server/services/watch_request.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {

WatchHub::WatchHub(state::StateReader& reader, const tables::Catalog& catalog,
                   const ingest::SourceSet& sources, Executor& executor, WatchOptions options)
    : reader_(reader),
      catalog_(catalog),
      sources_(sources),
      options_(options),
      window_(reader, catalog, options.window),
      parts_{.reader = reader,
             .window = window_,
             .executor = executor,
             .checkpoint_ticks = options.checkpoint_ticks,
             .stall_ticks = options.stall_ticks,
             .max_behind = options.max_behind},
      pump_({.name = "watch-pump"},
            [this] {
              window_.Advance(reader_.Latest());
              for (const auto& stream : Streams()) stream->Wake();
            }),
      ticker_({.name = "watch-tick", .period = options.tick},
              [this] {
                for (const auto& stream : Streams()) stream->Tick();
              }),
      // On the writer's thread: nothing but the wake-up, and not even that when nobody watches.
      listener_(reader.AddListener([this](const state::PublicationPtr&) {
        if (streams() > 0) pump_.Trigger();
      })) {}

WatchHub::~WatchHub() { Stop(); }

void WatchHub::Stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  listener_.reset();
  pump_.Stop();
  ticker_.Stop();
}

void WatchHub::Open(const v1::WatchChangesRequest& request, WatchStream::Stream stream) {
  absl::StatusOr<WatchSpec> spec = ParseWatch(request, catalog_, stream.context().principal());
  if (!spec.ok()) return stream.Finish(spec.status());
  const tables::Table* refusing = nullptr;
  const absl::StatusOr<state::SnapshotId> start = FindStart(request, *spec, reader_, &refusing);
  if (!start.ok()) {
    return stream.Finish(refusing == nullptr ? start.status()
                                             : ExplainTableError(start.status(), *refusing,
                                                                 catalog_, sources_, reader_));
  }
  auto watch = std::make_shared<WatchStream>(parts_, *std::move(spec), *start, stream);
  if (absl::Status refused = Register(watch); !refused.ok()) return stream.Finish(refused);
  watch->Start([this, weak = std::weak_ptr<WatchStream>(watch)] {
    if (std::shared_ptr<WatchStream> ended = weak.lock()) Remove(ended);
  });
  // What was published between FindStart and Register woke nobody.
  pump_.Trigger();
}

absl::Status WatchHub::Register(const std::shared_ptr<WatchStream>& stream) {
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  if (streams_.size() >= options_.max_streams) {
    return MakeError(Reason::kOverloaded,
                     absl::StrCat("There are already ", streams_.size(), " watches."),
                     {{"queue", "watches"}}, absl::Seconds(1));
  }
  // Nobody watched, so nobody moved the window: it begins again at the head.
  if (streams_.empty()) window_.SkipTo(reader_.Latest()->id());
  streams_.insert(stream);
  CountTables(stream->spec(), 1);
  count_.store(streams_.size(), std::memory_order_relaxed);
  return absl::OkStatus();
}

void WatchHub::Remove(const std::shared_ptr<WatchStream>& stream) {
  MutexLock lock(mutex_);
  if (streams_.erase(stream) == 0) return;
  CountTables(stream->spec(), -1);
  count_.store(streams_.size(), std::memory_order_relaxed);
}

void WatchHub::CountTables(const WatchSpec& spec, int by) {
  for (const tables::Table* table : spec.tables) {
    if ((watched_[table->id] += by) == 0) watched_.erase(table->id);
  }
  std::set<state::TableId> tables;
  for (const auto& [table, count] : watched_) tables.insert(table);
  window_.SetTables(std::move(tables));
}

std::vector<std::shared_ptr<WatchStream>> WatchHub::Streams() const {
  MutexLock lock(mutex_);
  return {streams_.begin(), streams_.end()};
}

}  // namespace tidemark::services
