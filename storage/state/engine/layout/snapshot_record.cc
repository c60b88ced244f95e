#include "storage/state/engine/layout/snapshot_record.h"

#include <algorithm>

#include "storage/state/coding.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {
namespace {

// A position written as what it does not share with the start of `base`: positions of one source
// differ in their last bytes only.
void AppendDelta(std::string* out, std::string_view base, std::string_view position) {
  size_t shared = 0;
  while (shared < base.size() && shared < position.size() && base[shared] == position[shared]) {
    ++shared;
  }
  AppendVarint(out, shared);
  AppendBytes(out, position.substr(shared));
}

bool ReadDelta(ByteReader* in, std::string_view base, std::string* position) {
  uint64_t shared = 0;
  std::string_view rest;
  if (!in->ReadVarint(&shared) || shared > base.size() || !in->ReadBytes(&rest)) return false;
  position->assign(base.substr(0, shared));
  position->append(rest);
  return true;
}

constexpr uint8_t kKnownBefore = 1;
constexpr uint8_t kKnownAfter = 2;

bool ReadSource(ByteReader* in, SourceSpan* span) {
  uint8_t known = 0;
  if (!in->ReadByte(&known) || known > (kKnownBefore | kKnownAfter)) return false;
  span->known_before = (known & kKnownBefore) != 0;
  span->known_after = (known & kKnownAfter) != 0;
  return in->ReadString(&span->source) && in->ReadString(&span->position_before) &&
         in->ReadTime(&span->fresh_before) &&
         ReadDelta(in, span->position_before, &span->position) && in->ReadTime(&span->fresh) &&
         ReadDelta(in, span->position, &span->last_transaction);
}

// Where the deltas of a source's positions start from.
std::vector<std::string_view> FirstBases(const std::vector<SourceSpan>& sources) {
  std::vector<std::string_view> bases;
  for (const SourceSpan& span : sources) bases.push_back(span.position_before);
  return bases;
}

}  // namespace

const SourceSpan* SnapshotRecord::Find(std::string_view source) const {
  for (const SourceSpan& span : sources) {
    if (span.source == source) return &span;
  }
  return nullptr;
}

std::vector<SourceMark> SnapshotRecord::MarksBefore() const {
  std::vector<SourceMark> marks;
  for (const SourceSpan& span : sources) {
    if (span.known_before) {
      marks.push_back({span.source, span.position_before, span.fresh_before});
    }
  }
  return marks;
}

std::vector<SourceMark> SnapshotRecord::MarksAtEnd() const {
  std::vector<SourceMark> marks;
  for (const SourceSpan& span : sources) {
    if (span.known_after) marks.push_back({span.source, span.position, span.fresh});
  }
  return marks;
}

std::vector<SourceMark> SnapshotRecord::MarksWithin(SnapshotId id) const {
  std::vector<std::string> positions;
  for (const SourceSpan& span : sources) positions.push_back(span.position_before);
  std::vector<bool> moved(sources.size());
  for (SnapshotId at = first; at <= id; ++at) {
    const SnapshotEntry& made = entry(at);
    if (made.source == 0) continue;
    positions[made.source - 1] = made.position;
    moved[made.source - 1] = true;
  }
  std::vector<SourceMark> marks;
  for (size_t i = 0; i < sources.size(); ++i) {
    const SourceSpan& span = sources[i];
    // A source without a mark before the range is known only once it made a snapshot.
    if (span.known_before || moved[i]) {
      marks.push_back({span.source, positions[i], span.fresh_before});
    }
  }
  return marks;
}

SnapshotInfo SnapshotRecord::InfoWithoutMarks(SnapshotId id) const {
  SnapshotInfo info;
  info.id = id;
  info.commit_time = commit_time;
  const SnapshotEntry& made = entry(id);
  if (made.source > 0) info.source = sources[made.source - 1].source;
  info.event_time = made.event_time;
  info.degraded = degraded;
  return info;
}

std::string SnapshotRecordValue(const SnapshotRecord& record) {
  std::string value;
  AppendVarint(&value, record.first);
  AppendTime(&value, record.commit_time);
  AppendVarint(&value, record.degraded.size());
  for (const TableId table : record.degraded) AppendVarint(&value, table);
  AppendVarint(&value, record.sources.size());
  for (const SourceSpan& span : record.sources) {
    value.push_back(static_cast<char>((span.known_before ? kKnownBefore : 0) |
                                      (span.known_after ? kKnownAfter : 0)));
    AppendBytes(&value, span.source);
    AppendBytes(&value, span.position_before);
    AppendTime(&value, span.fresh_before);
    AppendDelta(&value, span.position_before, span.position);
    AppendTime(&value, span.fresh);
    AppendDelta(&value, span.position, span.last_transaction);
  }
  AppendVarint(&value, record.entries.size());
  std::vector<std::string_view> bases = FirstBases(record.sources);
  for (const SnapshotEntry& entry : record.entries) {
    AppendVarint(&value, entry.source);
    if (entry.source > 0) {
      std::string_view& base = bases[entry.source - 1];
      AppendDelta(&value, base, entry.position);
      base = entry.position;
    }
    AppendTime(&value, entry.event_time);
  }
  return value;
}

bool ParseSnapshotRecord(std::string_view db_key, std::string_view bytes, SnapshotRecord* record) {
  ByteReader in(bytes);
  uint64_t degraded = 0, sources = 0, entries = 0;
  if (!in.ReadVarint(&record->first) || !in.ReadTime(&record->commit_time)) return false;
  if (!in.ReadVarint(&degraded)) return false;
  for (uint64_t i = 0; i < degraded; ++i) {
    TableId table = 0;
    if (!in.ReadVarint32(&table)) return false;
    record->degraded.push_back(table);
  }
  if (!in.ReadVarint(&sources)) return false;
  for (uint64_t i = 0; i < sources; ++i) {
    SourceSpan span;
    if (!ReadSource(&in, &span)) return false;
    record->sources.push_back(std::move(span));
  }
  if (!in.ReadVarint(&entries) || entries == 0 || entries > kMaxSnapshotsPerRecord) return false;
  record->entries.reserve(entries);  // bases point into it
  std::vector<std::string_view> bases = FirstBases(record->sources);
  for (uint64_t i = 0; i < entries; ++i) {
    SnapshotEntry& entry = record->entries.emplace_back();
    if (!in.ReadVarint32(&entry.source) || entry.source > bases.size()) return false;
    if (entry.source > 0) {
      std::string_view& base = bases[entry.source - 1];
      if (!ReadDelta(&in, base, &entry.position)) return false;
      base = entry.position;
    }
    if (!in.ReadTime(&entry.event_time)) return false;
  }
  return in.done() && SnapshotKey(record->last()) == db_key;
}

}  // namespace tidemark::state::engine
