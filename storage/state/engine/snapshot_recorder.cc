#include "storage/state/engine/snapshot_recorder.h"

#include <algorithm>
#include <utility>

namespace tidemark::state::engine {
namespace {

void AddBefore(const std::vector<SourceMark>& marks, std::map<std::string, SourceSpan>* spans) {
  for (const SourceMark& mark : marks) {
    SourceSpan& span = (*spans)[mark.source];
    span.known_before = true;
    span.position_before = mark.position;
    span.fresh_before = mark.fresh_as_of;
  }
}

void AddAfter(const std::vector<SourceMark>& marks, std::map<std::string, SourceSpan>* spans) {
  for (const SourceMark& mark : marks) {
    SourceSpan& span = (*spans)[mark.source];
    span.known_after = true;
    span.position = mark.position;
    span.fresh = mark.fresh_as_of;
  }
}

uint32_t IndexOf(const std::vector<SourceSpan>& sources, const std::string& source) {
  const auto at = std::lower_bound(
      sources.begin(), sources.end(), source,
      [](const SourceSpan& span, const std::string& name) { return span.source < name; });
  return static_cast<uint32_t>(at - sources.begin());
}

}  // namespace

std::vector<SourceMark> MarksAfter(std::vector<SourceMark> marks,
                                   const std::vector<SnapshotOrigin>& origins) {
  for (const SnapshotOrigin& origin : origins) {
    if (origin.source.empty()) continue;
    const auto at = std::lower_bound(
        marks.begin(), marks.end(), origin.source,
        [](const SourceMark& mark, const std::string& name) { return mark.source < name; });
    if (at != marks.end() && at->source == origin.source) {
      at->position = origin.position;
    } else {
      marks.insert(at, SourceMark{origin.source, origin.position});
    }
  }
  return marks;
}

void SnapshotRecorder::Restore(const SnapshotRecord& newest) {
  last_transactions_.clear();
  for (const SourceSpan& span : newest.sources) {
    if (!span.last_transaction.empty()) last_transactions_[span.source] = span.last_transaction;
  }
}

std::vector<SnapshotRecord> SnapshotRecorder::Record(SnapshotId first,
                                                     const std::vector<SnapshotOrigin>& origins,
                                                     const std::vector<SourceMark>& live,
                                                     const CommitInfo& info,
                                                     absl::Time commit_time) {
  std::vector<SnapshotRecord> records;
  std::vector<SourceMark> before = live;
  for (size_t begin = 0; begin < origins.size(); begin += kMaxSnapshotsPerRecord) {
    const size_t end = std::min(origins.size(), begin + kMaxSnapshotsPerRecord);
    const std::vector<SnapshotOrigin> part(origins.begin() + begin, origins.begin() + end);
    const std::vector<SourceMark> after =
        end == origins.size() ? info.sources : MarksAfter(before, part);

    std::map<std::string, SourceSpan> spans;
    AddBefore(before, &spans);
    AddAfter(after, &spans);
    for (const SnapshotOrigin& origin : part) {
      if (origin.source.empty()) continue;
      spans.try_emplace(origin.source);
      last_transactions_[origin.source] = origin.position;
    }
    SnapshotRecord record;
    record.first = first + begin;
    record.commit_time = commit_time;
    record.degraded = info.degraded;
    for (auto& [source, span] : spans) {
      span.source = source;
      const auto last = last_transactions_.find(source);
      if (last != last_transactions_.end()) span.last_transaction = last->second;
      record.sources.push_back(std::move(span));
    }
    for (const SnapshotOrigin& origin : part) {
      SnapshotEntry& entry = record.entries.emplace_back();
      entry.event_time = origin.event_time;
      if (origin.source.empty()) continue;
      entry.source = IndexOf(record.sources, origin.source) + 1;
      entry.position = origin.position;
    }
    records.push_back(std::move(record));
    before = after;
  }
  return records;
}

}  // namespace tidemark::state::engine
