#include "server/ingest/postgres/postgres_source.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "common/background_worker.h"
#include "common/strings.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/follower.h"
#include "server/ingest/postgres/lsn.h"
#include "server/ingest/postgres/prober.h"
#include "server/ingest/postgres/source_parts.h"

namespace tidemark::ingest {
namespace {

class PostgresSource final : public Source {
 public:
  PostgresSource(PostgresSourceOptions options, const tables::Catalog& catalog, Applier& applier,
                 const Clock& clock)
      : parts_(std::move(options), catalog, applier, clock), prober_(parts_) {}
  ~PostgresSource() override { Stop(); }

  const std::string& name() const override { return parts_.options.name; }
  void Start() override {
    follow_.Trigger();
    probe_.Trigger();
  }
  void Stop() override;
  absl::Status Pause() override;
  absl::Status Resume() override;
  SourceStatus Status() const override;

  absl::StatusOr<std::string> ParsePosition(std::string_view text) const override {
    auto lsn = ParseLsn(text);
    if (!lsn.ok()) return lsn.status();
    return LsnBytes(*lsn);
  }
  std::string FormatPosition(std::string_view position) const override {
    return position.empty() ? "" : FormatLsn(LsnOfBytes(position));
  }
  std::shared_ptr<void> WhenPast(std::string_view position, Callback callback) override {
    return parts_.progress->WhenPast(position, std::move(callback));
  }
  std::shared_ptr<void> WhenRecent(Callback callback) override {
    return parts_.progress->WhenRecent(std::move(callback));
  }
  absl::Time FreshAsOf() const override { return parts_.progress->fresh_as_of(); }

 private:
  // The thread that follows: try after try until stopped.
  void Follow();
  void AwaitNextTry(absl::Duration backoff);

  SourceParts parts_;
  Prober prober_;
  // Last, so that nothing they use goes before them. One round each, as long as the source lives.
  BackgroundWorker follow_{{.name = "pg-follow"}, [this] { Follow(); }};
  BackgroundWorker probe_{{.name = "pg-probe"}, [this] { prober_.Run(); }};
};

void PostgresSource::Stop() {
  parts_.interrupt.Set();
  parts_.progress->Stop();
  follow_.Stop();
  probe_.Stop();
}

absl::Status PostgresSource::Pause() {
  parts_.paused = true;
  parts_.wake->Set();
  return absl::OkStatus();
}

absl::Status PostgresSource::Resume() {
  parts_.paused = false;
  parts_.resumed = true;
  parts_.wake->Set();
  return absl::OkStatus();
}

SourceStatus PostgresSource::Status() const {
  SourceStatus status = parts_.board->Get();
  status.position = FormatPosition(parts_.progress->applied_up_to());
  status.fresh_as_of = parts_.progress->fresh_as_of();
  return status;
}

void PostgresSource::Follow() {
  absl::Duration backoff = parts_.options.retry_min;
  while (!parts_.interrupt.is_set()) {
    if (parts_.paused) {
      parts_.board->Set(SourceState::kPaused);
      AwaitWake(parts_, absl::InfiniteDuration());
      continue;
    }
    parts_.check_again = false;
    Follower follower(parts_, parts_.resumed.exchange(false));
    const absl::Status ended = follower.Run();
    if (parts_.streaming.exchange(false)) backoff = parts_.options.retry_min;
    if (!parts_.paused) parts_.joined = false;
    if (absl::IsCancelled(ended)) continue;
    parts_.board->Set(StateOf(ended), std::string(ToStd(ended.message())));
    AwaitNextTry(backoff);
    backoff = std::min(backoff * 2, parts_.options.retry_max);
  }
}

void PostgresSource::AwaitNextTry(absl::Duration backoff) {
  // Wakes for other reasons must not shorten it: they come with every work that settles.
  const absl::Time until = absl::Now() + backoff;
  while (!parts_.interrupt.is_set() && !parts_.paused && !parts_.resumed) {
    const absl::Duration left = until - absl::Now();
    if (left <= absl::ZeroDuration()) return;
    AwaitWake(parts_, left + absl::Milliseconds(1));
  }
}

}  // namespace

std::unique_ptr<Source> MakePostgresSource(PostgresSourceOptions options,
                                           const tables::Catalog& catalog, Applier& applier,
                                           const Clock& clock) {
  return std::make_unique<PostgresSource>(std::move(options), catalog, applier, clock);
}

}  // namespace tidemark::ingest
