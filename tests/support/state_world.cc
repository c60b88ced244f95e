#include "tests/support/state_world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "common/check.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/services/stamp.h"
#include "storage/state/memory/memory_state_store.h"
#include "storage/tables/row_codec.h"

namespace tidemark::testing {
namespace {

constexpr char kTables[] = R"(
- name: customers
  key: [id]
  tier: seconds
  readers: [default]
  columns: {id: string, name: string, limit: int}
  merge: last_row
  from: {source: erp, relation: public.customers}
- name: orders
  key: [customer_id, order_no]
  tier: seconds
  readers: [default, other]
  columns: {customer_id: string, order_no: int, total: decimal, note: string}
  merge: last_row
  from: {source: erp, relation: public.orders}
- name: rates
  key: [day]
  tier: seconds
  readers: [default]
  columns: {day: date, desk: string, rate: double}
  groups:
    - name: base
      from: {source: erp, relation: public.days}
      columns: {desk: desk}
      on_delete: row
    - name: quoted
      from: {source: shop, relation: rates}
      columns: {rate: rate}
- name: secrets
  key: [id]
  tier: seconds
  readers: [other]
  columns: {id: string}
  merge: last_row
  from: {source: erp, relation: public.secrets}
)";

template <typename T>
T Value(absl::StatusOr<T> result) {
  if (!result.ok()) CheckFailed(__FILE__, __LINE__, std::string(result.status().message()).c_str());
  return *std::move(result);
}

void Expect(const absl::Status& status) {
  if (!status.ok()) CheckFailed(__FILE__, __LINE__, std::string(status.message()).c_str());
}

}  // namespace

ToldSource::ToldSource(std::string name, const Clock& clock)
    : name_(std::move(name)), progress_(std::make_shared<ingest::Progress>(name_, clock)) {
  status_.name = name_;
  status_.kind = "told";
  status_.state = ingest::SourceState::kStreaming;
}

std::string ToldSource::Position(int position) { return absl::StrFormat("%010d", position); }

void ToldSource::Probe(int head) {
  progress_->ProbeSent();
  progress_->ProbeAnswered(Position(head));
}

void ToldSource::FailProbe() {
  progress_->ProbeSent();
  progress_->ProbeFailed(absl::UnavailableError("away"));
}

void ToldSource::SetStatus(const std::function<void(ingest::SourceStatus&)>& change) {
  MutexLock lock(mutex_);
  change(status_);
}

absl::Status ToldSource::Pause() {
  SetStatus([](ingest::SourceStatus& s) { s.state = ingest::SourceState::kPaused; });
  return absl::OkStatus();
}

absl::Status ToldSource::Resume() {
  SetStatus([](ingest::SourceStatus& s) { s.state = ingest::SourceState::kStreaming; });
  return absl::OkStatus();
}

ingest::SourceStatus ToldSource::Status() const {
  ingest::SourceStatus status;
  {
    MutexLock lock(mutex_);
    status = status_;
  }
  status.fresh_as_of = progress_->fresh_as_of();
  return status;
}

absl::StatusOr<std::string> ToldSource::ParsePosition(std::string_view text) const {
  int position = 0;
  if (!absl::SimpleAtoi(ToAbsl(text), &position) || position < 0) {
    return FieldInvalid("position", "not a number.");
  }
  return Position(position);
}

std::string ToldSource::FormatPosition(std::string_view position) const {
  int number = 0;
  (void)absl::SimpleAtoi(ToAbsl(position), &number);
  return std::to_string(number);
}

std::shared_ptr<void> ToldSource::WhenPast(std::string_view position, Callback callback) {
  return progress_->WhenPast(position, std::move(callback));
}

std::shared_ptr<void> ToldSource::WhenRecent(Callback callback) {
  return progress_->WhenRecent(std::move(callback));
}

StateWorld::StateWorld(const StateWorldOptions& options) {
  store_ =
      options.make_store != nullptr
          ? options.make_store(services::EncodeStamp, clock_)
          : state::CreateMemoryStore({.clock = &clock_, .stamp_encoder = services::EncodeStamp});
  catalog_ = Value(tables::Catalog::Open(
      Value(tables::ParseTableDefinitions(std::string_view(kTables), {"erp", "shop"})),
      store_->writer()));
  auto erp = std::make_unique<ToldSource>("erp", clock_);
  auto shop = std::make_unique<ToldSource>("shop", clock_);
  erp_ = erp.get();
  shop_ = shop.get();
  std::vector<std::unique_ptr<ingest::Source>> sources;
  sources.push_back(std::move(erp));
  sources.push_back(std::move(shop));
  sources_ = std::make_unique<ingest::SourceSet>(std::move(sources));
  erp_->PassTo(0);
  shop_->PassTo(0);
  Publish();
}

StateWorld::~StateWorld() = default;

void StateWorld::Publish() {
  std::vector<state::SourceMark> marks;
  for (const auto& source : sources_->all()) {
    const std::string position =
        source.get() == erp_ && position_ > 0 ? ToldSource::Position(position_) : "";
    marks.push_back({source->name(), position, source->FreshAsOf()});
  }
  Expect(store_->writer().Commit({.sources = marks, .degraded = degraded_}));
}

void StateWorld::Load(const std::vector<std::string>& tables) {
  state::StateWriter& writer = store_->writer();
  Expect(writer.BeginSnapshot());
  for (const auto& table : catalog_->tables()) {
    if (tables.empty() || std::count(tables.begin(), tables.end(), table->definition.name) > 0) {
      Expect(writer.FinishLoading(table->id));
    }
  }
  (void)Value(writer.EndSnapshot({.source = "erp", .position = ToldSource::Position(++position_)}));
  Publish();
}

state::SnapshotId StateWorld::CommitBatch(const std::vector<Body>& bodies) {
  state::StateWriter& writer = store_->writer();
  for (const Body& body : bodies) {
    Expect(writer.BeginSnapshot());
    Txn txn(*this);
    body(txn);
    (void)Value(
        writer.EndSnapshot({.source = "erp", .position = ToldSource::Position(++position_)}));
  }
  Publish();
  erp_->PassTo(position_ + 1);
  return reader().Latest()->id();
}

void StateWorld::SetDegraded(const std::vector<std::string>& tables) {
  degraded_.clear();
  for (const std::string& name : tables) degraded_.push_back(table(name).id);
  std::sort(degraded_.begin(), degraded_.end());
}

void StateWorld::Txn::Put(std::string_view name, const std::vector<tables::Datum>& row) {
  const tables::Table& table = world_.table(name);
  std::vector<tables::Datum> key;
  for (const std::string& column : table.definition.key) {
    key.push_back(row[table.definition.ColumnIndex(column)]);
  }
  Expect(world_.store_->writer().Put(table.id, Value(tables::EncodeKey(table.definition, key)),
                                     state::RowKind::kPresent, "",
                                     Value(tables::EncodeRow(table.definition, row))));
}

void StateWorld::Txn::Delete(std::string_view name, const std::vector<tables::Datum>& key) {
  const tables::Table& table = world_.table(name);
  Expect(world_.store_->writer().Put(table.id, Value(tables::EncodeKey(table.definition, key)),
                                     state::RowKind::kTombstone, "", ""));
}

void StateWorld::Txn::Truncate(std::string_view name) {
  Expect(world_.store_->writer().Truncate(world_.table(name).id, "t"));
}

}  // namespace tidemark::testing
