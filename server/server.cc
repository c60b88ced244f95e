#include "server/server.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/background_worker.h"
#include "common/error.h"
#include "server/authenticator.h"
#include "server/config/source_config.h"
#include "server/config/token_file.h"
#include "server/dsn_file.h"
#include "server/executor.h"
#include "server/ingest/applier.h"
#include "server/ingest/postgres/postgres_source.h"
#include "server/ingest/source.h"
#include "server/instance.h"
#include "server/read_point.h"
#include "server/service_binder.h"
#include "server/services/ingest_service.h"
#include "server/services/stamp.h"
#include "server/services/state_service.h"
#include "server/services/watch_hub.h"
#include "server/state_metrics.h"
#include "server/telemetry/call_metrics.h"
#include "server/telemetry/metrics_server.h"
#include "server/timer_queue.h"
#include "server/transport/grpc_log.h"
#include "server/transport/grpc_server.h"
#include "storage/state/state_store.h"
#include "storage/tables/catalog.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// How soon a source's fall or rise shows in its health name.
constexpr absl::Duration kHealthPeriod = absl::Milliseconds(250);

absl::Status MakeDirectory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot make the directory ", path.string(), ": ", error.message()));
}

LogLevel LevelOf(ingest::SourceState state) {
  switch (state) {
    case ingest::SourceState::kFailed:
      return LogLevel::kError;
    case ingest::SourceState::kRetrying:
    case ingest::SourceState::kGap:
    case ingest::SourceState::kFenced:
      return LogLevel::kWarning;
    default:
      return LogLevel::kInfo;
  }
}

bool IsServing(ingest::SourceState state) {
  return state == ingest::SourceState::kStreaming || state == ingest::SourceState::kCopying;
}

class Impl final : public Server {
 public:
  Impl(const ServerOptions& options, Log& log, const Clock& clock)
      : options_(options), log_(log), clock_(clock), grpc_log_(log) {}
  ~Impl() override { Shutdown(absl::ZeroDuration()); }

  absl::Status Open();

  int port() const override { return grpc_->port(); }
  int metrics_port() const override {
    return metrics_server_ == nullptr ? 0 : metrics_server_->port();
  }
  absl::Status ReloadTokens() override;
  bool Shutdown(absl::Duration deadline) override;

 private:
  const Config& config() const { return options_.config; }

  // Open, step by step.
  absl::Status OpenAuthentication();
  absl::Status OpenState();
  absl::Status OpenSources();
  absl::StatusOr<std::unique_ptr<ingest::Source>> OpenSource(const SourceConfig& source,
                                                             const std::string& instance);
  void OpenServices();
  absl::Status Listen();
  void OpenMetrics();
  void ShowHealth();
  absl::Status WriteReadyFile() const;

  const ServerOptions options_;
  Log& log_;
  const Clock& clock_;

  // In the order in which they are opened; taken down by Shutdown, in its order.
  GrpcLogRedirect grpc_log_;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<state::LevelDbStore> store_;
  std::unique_ptr<tables::Catalog> catalog_;
  std::unique_ptr<ingest::Applier> applier_;
  std::unique_ptr<ingest::SourceSet> sources_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<TimerQueue> timers_;
  std::unique_ptr<ReadPointResolver> resolver_;
  std::unique_ptr<services::WatchHub> watches_;
  std::unique_ptr<services::StateService> state_service_;
  std::unique_ptr<services::IngestService> ingest_service_;
  ServiceBinder state_binder_{"StateService"};
  ServiceBinder ingest_binder_{"IngestService"};
  CallMetrics call_metrics_;
  std::unique_ptr<GrpcServer> grpc_;
  NumberMetrics number_metrics_;
  std::unique_ptr<StateMetrics> state_metrics_;
  std::unique_ptr<SourceMetrics> source_metrics_;
  ProcessMetrics process_metrics_;
  std::unique_ptr<MetricsServer> metrics_server_;
  std::unique_ptr<BackgroundWorker> health_;
};

absl::Status Impl::Open() {
  TIDEMARK_RETURN_IF_ERROR(MakeDirectory(config().data_dir));
  TIDEMARK_RETURN_IF_ERROR(OpenAuthentication());
  TIDEMARK_RETURN_IF_ERROR(OpenState());
  TIDEMARK_RETURN_IF_ERROR(OpenSources());
  OpenServices();
  TIDEMARK_RETURN_IF_ERROR(Listen());
  log_.Write(LogLevel::kInfo, "serving",
             {{"listen", config().listen},
              {"port", int64_t{port()}},
              {"metrics_port", int64_t{metrics_port()}},
              {"data_dir", config().data_dir}});
  return WriteReadyFile();
}

absl::Status Impl::OpenAuthentication() {
  if (config().token_file.empty()) {
    authenticator_ = Authenticator::Open();
    log_.Write(
        LogLevel::kWarning,
        "no authentication is configured: only this machine can connect, and everybody on it "
        "may do everything but decide approvals");
    return absl::OkStatus();
  }
  TIDEMARK_ASSIGN_OR_RETURN(std::vector<TokenEntry> tokens, LoadTokens(config().token_file));
  authenticator_ = Authenticator::WithTokens(std::move(tokens));
  return absl::OkStatus();
}

absl::Status Impl::OpenState() {
  TIDEMARK_ASSIGN_OR_RETURN(store_,
                            state::OpenLevelDbStore({.dir = config().state_dir,
                                                     .block_cache_bytes = config().block_cache,
                                                     .row_cache_bytes = config().row_cache,
                                                     .max_batch_bytes = config().max_batch_bytes,
                                                     .clock = &clock_,
                                                     .stamp_encoder = services::EncodeStamp}));
  const state::PublicationPtr newest = store_->reader().Latest();
  log_.Write(LogLevel::kInfo, "state opened",
             {{"dir", config().state_dir},
              {"snapshot", static_cast<int64_t>(newest->id())},
              {"token", store_->reader().TokenOf(newest->id())}});
  TIDEMARK_ASSIGN_OR_RETURN(catalog_, tables::Catalog::Open(config().tables, store_->writer()));
  applier_ = ingest::MakeApplier(*catalog_, *store_,
                                 {.max_queue_bytes = config().max_transaction_bytes,
                                  .max_batch_bytes = config().max_batch_bytes});
  return absl::OkStatus();
}

absl::Status Impl::OpenSources() {
  TIDEMARK_RETURN_IF_ERROR(MakeDirectory(fs::path(config().data_dir) / "spool"));
  TIDEMARK_ASSIGN_OR_RETURN(const std::string instance,
                            InstanceName(config().data_dir, options_.instance));
  std::vector<std::unique_ptr<ingest::Source>> sources;
  for (const SourceConfig& source : config().sources) {
    TIDEMARK_ASSIGN_OR_RETURN(auto opened, OpenSource(source, instance));
    sources.push_back(std::move(opened));
  }
  sources_ = std::make_unique<ingest::SourceSet>(std::move(sources));
  applier_->SetMarkProvider([this] {
    std::vector<state::SourceMark> marks;
    for (const auto& source : sources_->all()) {
      marks.push_back({.source = source->name(), .fresh_as_of = source->FreshAsOf()});
    }
    return marks;
  });
  TIDEMARK_RETURN_IF_ERROR(applier_->Start());
  sources_->StartAll();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ingest::Source>> Impl::OpenSource(const SourceConfig& source,
                                                                 const std::string& instance) {
  TIDEMARK_ASSIGN_OR_RETURN(std::string dsn, ReadDsnFile(source.dsn_file));
  ingest::PostgresSourceOptions options;
  options.name = source.name;
  options.dsn = std::move(dsn);
  options.slot = source.slot.empty() ? DefaultSlot(instance, source.name) : source.slot;
  options.publication = source.publication;
  options.relations =
      source.relations.empty() ? catalog_->RelationsOf(source.name) : source.relations;
  options.resnapshot_on_gap = source.resnapshot_on_gap;
  options.probe_every = source.probe_every;
  options.max_transaction_bytes = config().max_transaction_bytes;
  options.spool_dir = (fs::path(config().data_dir) / "spool").string();
  options.on_state = [this, name = source.name](ingest::SourceState state,
                                                const std::string& detail) {
    log_.Write(LevelOf(state), "source",
               {{"source", name}, {"state", ingest::SourceStateName(state)}, {"detail", detail}});
  };
  return ingest::MakePostgresSource(std::move(options), *catalog_, *applier_, clock_);
}

void Impl::OpenServices() {
  executor_ = std::make_unique<Executor>(
      Executor::Options{.threads = std::max<size_t>(2, std::thread::hardware_concurrency())});
  timers_ = std::make_unique<TimerQueue>();
  resolver_ = MakeReadPointResolver(store_->reader(), *catalog_, *sources_, clock_);
  watches_ =
      std::make_unique<services::WatchHub>(store_->reader(), *catalog_, *sources_, *executor_);
  state_service_ = std::make_unique<services::StateService>(services::StateServiceParts{
      store_->reader(), *catalog_, *sources_, *resolver_, *executor_, *watches_, clock_});
  state_service_->Bind(state_binder_);
  ingest_service_ = std::make_unique<services::IngestService>(
      *sources_, *catalog_, store_->reader().incarnation(), clock_);
  ingest_service_->Bind(ingest_binder_);
}

absl::Status Impl::Listen() {
  const int calls = static_cast<int>(config().max_concurrent_calls);
  GrpcServerOptions grpc;
  grpc.listen = config().listen;
  grpc.max_message_bytes = config().max_message_bytes;
  // Where callers are told apart, none may take all the room.
  grpc.gate.max_calls = calls;
  grpc.gate.max_calls_per_caller = authenticator_->open() ? 2 * calls : std::max(1, calls / 2);
  grpc.gate.max_streams = std::max(1, calls / 2);
  grpc.channelz = options_.channelz;
  TIDEMARK_ASSIGN_OR_RETURN(
      grpc_, GrpcServer::Start(grpc, {*authenticator_, *executor_, *timers_, call_metrics_, log_},
                               {&state_binder_, &ingest_binder_}));
  OpenMetrics();
  if (config().metrics_listen != "off") {
    TIDEMARK_ASSIGN_OR_RETURN(
        metrics_server_,
        MetricsServer::Start(config().metrics_listen,
                             {&call_metrics_, &number_metrics_, state_metrics_.get(),
                              source_metrics_.get(), &process_metrics_}));
  }
  for (std::string_view service : AllServices()) {
    grpc_->SetServing("tidemark.v1." + std::string(service), ServiceAvailable(service));
  }
  ShowHealth();
  health_ = std::make_unique<BackgroundWorker>(
      BackgroundWorker::Options{.name = "health", .period = kHealthPeriod},
      [this] { ShowHealth(); });
  if (metrics_server_ != nullptr) metrics_server_->SetHealthy(true);
  return absl::OkStatus();
}

void Impl::OpenMetrics() {
  state_metrics_ = std::make_unique<StateMetrics>(*store_, *applier_);
  source_metrics_ = std::make_unique<SourceMetrics>(*sources_, clock_);
  const std::string in_progress = "tidemark_calls_in_progress";
  const std::string help = "Calls and streams that are being served.";
  number_metrics_.Gauge(in_progress, help, {{"shape", "unary"}}, [this] { return grpc_->calls(); });
  number_metrics_.Gauge(in_progress, help, {{"shape", "stream"}},
                        [this] { return grpc_->streams(); });
  const std::string depth = "tidemark_queue_depth";
  const std::string waits = "What waits in a bounded queue.";
  number_metrics_.Gauge(depth, waits, {{"queue", "executor"}},
                        [this] { return static_cast<double>(executor_->queued()); });
  number_metrics_.Gauge(depth, waits, {{"queue", "read_waits"}},
                        [this] { return static_cast<double>(resolver_->waits()); });
  number_metrics_.Counter("tidemark_log_lines_dropped_total",
                          "Log lines dropped because standard error was too slow.", {},
                          [this] { return static_cast<double>(log_.dropped()); });
  number_metrics_.Gauge("tidemark_build_info", "1, with the version as a label.",
                        {{"version", TIDEMARK_VERSION}}, [] { return 1.0; });
  const double started = absl::ToDoubleSeconds(clock_.Now() - absl::UnixEpoch());
  number_metrics_.Gauge("process_start_time_seconds", "When the server started.", {},
                        [started] { return started; });
}

void Impl::ShowHealth() {
  for (const auto& source : sources_->all()) {
    grpc_->SetServing("source/" + source->name(), IsServing(source->Status().state));
  }
}

absl::Status Impl::WriteReadyFile() const {
  if (options_.ready_file.empty()) return absl::OkStatus();
  return WriteWhole(options_.ready_file,
                    absl::StrCat("{\"port\":", port(), ",\"metrics_port\":", metrics_port(),
                                 ",\"pid\":", getpid(), "}\n"));
}

absl::Status Impl::ReloadTokens() {
  if (authenticator_->open()) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(std::vector<TokenEntry> tokens, LoadTokens(config().token_file));
  authenticator_->ReplaceTokens(std::move(tokens));
  grpc_->StopWithdrawn();
  return absl::OkStatus();
}

bool Impl::Shutdown(absl::Duration deadline) {
  // Every step copes with what Open did not reach.
  if (!options_.ready_file.empty()) unlink(options_.ready_file.c_str());
  if (metrics_server_ != nullptr) metrics_server_->SetHealthy(false);
  health_.reset();
  const bool drained = grpc_ == nullptr || grpc_->Drain(deadline);
  if (executor_ != nullptr) executor_->Stop();
  if (sources_ != nullptr) sources_->StopAll();
  if (applier_ != nullptr) applier_->Stop();
  if (resolver_ != nullptr) resolver_->Stop();
  if (watches_ != nullptr) watches_->Stop();
  if (timers_ != nullptr) timers_->Stop();
  metrics_server_.reset();
  grpc_.reset();
  ingest_service_.reset();
  state_service_.reset();
  watches_.reset();
  resolver_.reset();
  sources_.reset();
  applier_.reset();
  catalog_.reset();
  store_.reset();
  return drained;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, Log& log,
                                                      const Clock& clock) {
  auto server = std::make_unique<Impl>(options, log, clock);
  TIDEMARK_RETURN_IF_ERROR(server->Open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace tidemark
