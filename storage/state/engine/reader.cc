#include "storage/state/engine/reader.h"

#include <utility>

#include "common/error.h"
#include "storage/state/engine/cursors.h"
#include "storage/state/engine/snapshot_index.h"
#include "storage/state/engine/version_reader.h"
#include "storage/state/state_errors.h"

namespace tidemark::state::engine {
namespace {

const LevelDbPublication& Of(const PublicationPtr& publication) {
  return static_cast<const LevelDbPublication&>(*publication);
}

LevelDbPublicationPtr Shared(const PublicationPtr& publication) {
  return std::static_pointer_cast<const LevelDbPublication>(publication);
}

}  // namespace

absl::StatusOr<ReadPoint> LevelDbReader::PointAt(PublicationPtr publication, SnapshotId id) const {
  if (id > publication->id()) return SnapshotInFuture(id, publication->id());
  // The handle was taken before this check, so nothing it may still read is missing in it.
  if (id < publication->floor() && !Of(publication).pins().Covers(id)) {
    return SnapshotExpired(id, publication->floor());
  }
  return ReadPoint{std::move(publication), id};
}

absl::Status LevelDbReader::Get(const ReadPoint& point, TableId table, std::string_view key,
                                StoredRow* row) const {
  const LevelDbPublication& publication = Of(point.publication);
  row->SetAbsent();
  engine_.counters.gets.Add();
  Storage storage;
  TIDEMARK_RETURN_IF_ERROR(publication.tables().Resolve(table, point.id, &storage));
  const std::string current_key = CurrentKey(storage.id, key);
  if (CachedRow cached = engine_.row_cache.Find(current_key, point.id)) {
    engine_.counters.gets_from_row_cache.Add();
    const SnapshotId id = cached.id == kNoSnapshot ? storage.from : cached.id;
    row->SetFound(id, cached.row, cached.meta, std::move(cached.bytes));
    return absl::OkStatus();
  }
  FoundVersion found;
  TIDEMARK_RETURN_IF_ERROR(VersionReader(publication, &engine_.counters.seeks)
                               .Find(storage, current_key, key, point.id, &found));
  if (found.bytes == nullptr || found.version.kind != RowKind::kPresent) return absl::OkStatus();
  if (found.newest) {
    engine_.row_cache.Fill(current_key, {*found.bytes, found.version}, publication.sequence());
  }
  row->SetFound(found.version.id, found.version.row, found.version.meta, std::move(found.bytes));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RowCursor>> LevelDbReader::Scan(const ReadPoint& point,
                                                               TableId table,
                                                               const KeyRange& range) const {
  engine_.counters.scans.Add();
  Storage storage;
  TIDEMARK_RETURN_IF_ERROR(Of(point.publication).tables().Resolve(table, point.id, &storage));
  return std::make_unique<LevelDbRowCursor>(Shared(point.publication), storage, point.id, range,
                                            &engine_.counters.seeks);
}

absl::StatusOr<std::unique_ptr<ChangeCursor>> LevelDbReader::Changes(
    const PublicationPtr& publication, SnapshotId after) const {
  if (after < publication->floor()) return SnapshotExpired(after, publication->floor());
  return std::make_unique<LevelDbChangeCursor>(Shared(publication), after);
}

absl::StatusOr<SnapshotInfo> LevelDbReader::Describe(const ReadPoint& point) const {
  return SnapshotIndex(Of(point.publication)).Describe(point.id);
}

absl::StatusOr<ReadPoint> LevelDbReader::NewestAt(PublicationPtr publication,
                                                  absl::Time time) const {
  TIDEMARK_ASSIGN_OR_RETURN(const SnapshotId id, SnapshotIndex(Of(publication)).NewestAt(time));
  if (id == kNoSnapshot) return BeforeOldestSnapshot("time", publication->floor());
  return ReadPoint{std::move(publication), id};
}

absl::StatusOr<ReadPoint> LevelDbReader::NewestBefore(PublicationPtr publication,
                                                      std::string_view source,
                                                      std::string_view position) const {
  bool known = false;
  for (const SourceMark& mark : publication->info().sources) known |= mark.source == source;
  if (!known) return NoSuchSource(source);
  TIDEMARK_ASSIGN_OR_RETURN(const SnapshotId id,
                            SnapshotIndex(Of(publication)).NewestBefore(source, position));
  if (id < publication->floor()) return BeforeOldestSnapshot("position", publication->floor());
  return ReadPoint{std::move(publication), id};
}

std::string LevelDbReader::TokenOf(SnapshotId id) const { return EncodeToken({incarnation(), id}); }

Incarnation LevelDbReader::incarnation() const {
  return Of(engine_.board.Latest()).identity().incarnation;
}

absl::StatusOr<SnapshotId> LevelDbReader::ResolveToken(std::string_view token) const {
  TIDEMARK_ASSIGN_OR_RETURN(const SnapshotToken decoded, DecodeToken(token));
  const PublicationPtr latest = engine_.board.Latest();
  const Identity& identity = Of(latest).identity();
  if (decoded.incarnation == identity.incarnation) return decoded.snapshot;
  for (const Identity::Ancestor& ancestor : identity.ancestors) {
    if (decoded.incarnation == ancestor.incarnation && decoded.snapshot <= ancestor.fork) {
      return decoded.snapshot;
    }
  }
  return TokenOfAnotherStore();
}

}  // namespace tidemark::state::engine
