#include "storage/state/memory/memory_reader.h"

#include <utility>

#include "common/error.h"
#include "storage/state/state_errors.h"

namespace tidemark::state::memory {
namespace {

class MemoryPublication final : public Publication {
 public:
  MemoryPublication(History history, SnapshotInfo info, std::string stamp, std::string degraded)
      : history_(std::move(history)),
        info_(std::move(info)),
        stamp_(std::move(stamp)),
        degraded_stamp_(std::move(degraded)) {}

  const SnapshotInfo& info() const override { return info_; }
  SnapshotId floor() const override { return kFirstSnapshot; }
  const std::string& stamp(bool degraded) const override {
    return degraded ? degraded_stamp_ : stamp_;
  }
  const History& history() const { return history_; }
  const Snapshot& at(SnapshotId id) const { return *history_[id - 1]; }

 private:
  const History history_;
  const SnapshotInfo info_;
  const std::string stamp_;
  const std::string degraded_stamp_;
};

const MemoryPublication& Of(const PublicationPtr& publication) {
  return static_cast<const MemoryPublication&>(*publication);
}

absl::StatusOr<std::shared_ptr<const Table>> FindTable(const ReadPoint& point, TableId id) {
  const MemoryPublication& publication = Of(point.publication);
  const Tables& newest = publication.at(publication.id()).tables;
  const auto known = newest.find(id);
  if (known == newest.end()) return NoSuchTable(id);
  if (known->second->first == kNoSnapshot) return TableLoading(id);
  if (point.id < known->second->first) {
    return TableYoungerThanSnapshot(id, point.id, known->second->first);
  }
  return publication.at(point.id).tables.at(id);
}

void SetRow(const std::shared_ptr<const Table>& table, const Version& version, StoredRow* row) {
  row->SetFound(version.id, version.row, version.meta, table);
}

class MemoryRowCursor final : public RowCursor {
 public:
  MemoryRowCursor(std::shared_ptr<const Table> table, KeyRange range)
      : table_(std::move(table)), range_(std::move(range)) {
    at_ = table_->rows.lower_bound(range_.prefix);
    if (!range_.after.empty() && range_.after >= range_.prefix) {
      at_ = table_->rows.upper_bound(range_.after);
    }
    SkipHidden();
  }

  bool Valid() const override {
    return at_ != table_->rows.end() &&
           at_->first.compare(0, range_.prefix.size(), range_.prefix) == 0;
  }
  void Next() override {
    ++at_;
    SkipHidden();
  }
  std::string_view key() const override { return at_->first; }
  const StoredRow& row() const override { return row_; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  void SkipHidden() {
    while (Valid() && !IsVisible(&at_->second)) ++at_;
    if (Valid()) SetRow(table_, at_->second, &row_);
  }

  const std::shared_ptr<const Table> table_;
  const KeyRange range_;
  Rows::const_iterator at_;
  StoredRow row_;
};

class MemoryChangeCursor final : public ChangeCursor {
 public:
  explicit MemoryChangeCursor(std::vector<Change> changes) : changes_(std::move(changes)) {}
  bool Valid() const override { return at_ < changes_.size(); }
  void Next() override { ++at_; }
  const Change& change() const override { return changes_[at_]; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  const std::vector<Change> changes_;
  size_t at_ = 0;
};

}  // namespace

MemoryReader::MemoryReader(Incarnation incarnation, StampEncoder stamp_encoder)
    : stamp_encoder_(std::move(stamp_encoder)), incarnation_(incarnation) {}

void MemoryReader::StartIncarnation(SnapshotId fork) {
  MutexLock lock(mutex_);
  ancestors_[incarnation_] = fork;
  ++incarnation_.back();
}

Incarnation MemoryReader::incarnation() const {
  MutexLock lock(mutex_);
  return incarnation_;
}

void MemoryReader::Publish(History history, SnapshotInfo info) {
  const std::string token = TokenOf(info.id);
  std::string stamp = stamp_encoder_ ? stamp_encoder_(info, token, false) : token;
  std::string degraded = stamp_encoder_ ? stamp_encoder_(info, token, true) : token;
  auto publication = std::make_shared<MemoryPublication>(std::move(history), std::move(info),
                                                         std::move(stamp), std::move(degraded));
  {
    MutexLock lock(mutex_);
    latest_ = publication;
  }
  MutexLock lock(listeners_->mutex);
  for (const Listener& listener : listeners_->list) listener(publication);
}

PublicationPtr MemoryReader::Latest() const {
  MutexLock lock(mutex_);
  return latest_;
}

std::shared_ptr<void> MemoryReader::AddListener(Listener listener) {
  MutexLock lock(listeners_->mutex);
  const auto at = listeners_->list.insert(listeners_->list.end(), std::move(listener));
  return std::shared_ptr<void>(nullptr, [listeners = listeners_, at](void*) {
    MutexLock lock(listeners->mutex);
    listeners->list.erase(at);
  });
}

absl::StatusOr<ReadPoint> MemoryReader::PointAt(PublicationPtr publication, SnapshotId id) const {
  if (id > publication->id()) return SnapshotInFuture(id, publication->id());
  if (id < publication->floor()) return SnapshotExpired(id, publication->floor());
  return ReadPoint{std::move(publication), id};
}

absl::Status MemoryReader::Get(const ReadPoint& point, TableId table, std::string_view key,
                               StoredRow* row) const {
  row->SetAbsent();
  TIDEMARK_ASSIGN_OR_RETURN(const std::shared_ptr<const Table> found, FindTable(point, table));
  const auto at = found->rows.find(std::string(key));
  if (at != found->rows.end() && IsVisible(&at->second)) SetRow(found, at->second, row);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RowCursor>> MemoryReader::Scan(const ReadPoint& point, TableId table,
                                                              const KeyRange& range) const {
  TIDEMARK_ASSIGN_OR_RETURN(std::shared_ptr<const Table> found, FindTable(point, table));
  return std::make_unique<MemoryRowCursor>(std::move(found), range);
}

absl::StatusOr<std::unique_ptr<ChangeCursor>> MemoryReader::Changes(
    const PublicationPtr& publication, SnapshotId after) const {
  if (after < publication->floor()) return SnapshotExpired(after, publication->floor());
  std::vector<Change> changes;
  for (const auto& snapshot : Of(publication).history()) {
    if (snapshot->info.id <= after) continue;
    changes.insert(changes.end(), snapshot->changes.begin(), snapshot->changes.end());
  }
  return std::make_unique<MemoryChangeCursor>(std::move(changes));
}

absl::StatusOr<SnapshotInfo> MemoryReader::Describe(const ReadPoint& point) const {
  if (point.id == point.publication->id()) return point.publication->info();
  return Of(point.publication).at(point.id).info;
}

absl::StatusOr<ReadPoint> MemoryReader::NewestAt(PublicationPtr publication,
                                                 absl::Time time) const {
  SnapshotId newest = kNoSnapshot;
  for (const auto& snapshot : Of(publication).history()) {
    if (snapshot->info.commit_time <= time) newest = snapshot->info.id;
  }
  if (newest == kNoSnapshot) return BeforeOldestSnapshot("time", publication->floor());
  return ReadPoint{std::move(publication), newest};
}

absl::StatusOr<ReadPoint> MemoryReader::NewestBefore(PublicationPtr publication,
                                                     std::string_view source,
                                                     std::string_view position) const {
  bool known = false;
  for (const SourceMark& mark : publication->info().sources) known |= mark.source == source;
  if (!known) return NoSuchSource(source);
  SnapshotId newest = publication->id();
  for (const auto& snapshot : Of(publication).history()) {
    if (snapshot->info.source == source && snapshot->position >= position) {
      newest = snapshot->info.id - 1;
      break;
    }
  }
  return ReadPoint{std::move(publication), newest};
}

std::string MemoryReader::TokenOf(SnapshotId id) const { return EncodeToken({incarnation(), id}); }

absl::StatusOr<SnapshotId> MemoryReader::ResolveToken(std::string_view token) const {
  TIDEMARK_ASSIGN_OR_RETURN(const SnapshotToken decoded, DecodeToken(token));
  MutexLock lock(mutex_);
  const auto ancestor = ancestors_.find(decoded.incarnation);
  if (decoded.incarnation == incarnation_ ||
      (ancestor != ancestors_.end() && decoded.snapshot <= ancestor->second)) {
    return decoded.snapshot;
  }
  return TokenOfAnotherStore();
}

}  // namespace tidemark::state::memory
