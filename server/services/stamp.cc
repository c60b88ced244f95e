#include "server/services/stamp.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "server/services/convert.h"
#include "tidemark/v1/snapshot.pb.h"

namespace tidemark::services {
namespace {

constexpr int kTokenField = v1::SnapshotStamp::kTokenFieldNumber;

}  // namespace

std::string EncodeStamp(const state::SnapshotInfo& info, std::string_view token, bool degraded) {
  v1::SnapshotStamp stamp;
  stamp.set_token(std::string(token));
  stamp.set_snapshot_id(info.id);
  if (info.commit_time != absl::InfinitePast()) {
    ToTimestamp(info.commit_time, stamp.mutable_commit_time());
  }
  stamp.set_degraded(degraded);
  return stamp.SerializeAsString();
}

bool IsDegraded(const state::SnapshotInfo& info, std::span<const tables::Table* const> tables) {
  return std::any_of(tables.begin(), tables.end(), [&](const tables::Table* table) {
    return std::binary_search(info.degraded.begin(), info.degraded.end(), table->id);
  });
}

void FillSources(const ReadView& view, const state::SnapshotInfo& info,
                 const ingest::SourceSet& sources, absl::Time now,
                 google::protobuf::RepeatedPtrField<v1::SourceStatus>* out) {
  for (const ingest::SourceStatus& live : view.sources) {
    ingest::SourceStatus shown{.name = live.name, .atomicity = live.atomicity};
    if (view.newest()) shown = live;
    shown.position.clear();
    for (const state::SourceMark& mark : info.sources) {
      if (mark.source != live.name || mark.position.empty()) continue;
      shown.position = sources.Find(live.name)->FormatPosition(mark.position);
    }
    v1::SourceStatus* status = out->Add();
    ToSourceStatus(shown, now, status);
    if (!view.newest()) status->clear_state();
  }
}

absl::StatusOr<Stamp> Stamp::Of(const ReadView& view, std::span<const tables::Table* const> tables,
                                const state::StateReader& reader, const ingest::SourceSet& sources,
                                absl::Time now) {
  Stamp stamp;
  if (view.newest() && view.sources.empty()) {
    stamp.publication_ = view.point.publication;
    stamp.shared_ = &stamp.publication_->stamp(IsDegraded(stamp.publication_->info(), tables));
    return stamp;
  }
  state::SnapshotInfo info;
  if (view.newest()) {
    info = view.point.publication->info();
    stamp.own_ = view.point.publication->stamp(IsDegraded(info, tables));
  } else {
    TIDEMARK_ASSIGN_OR_RETURN(info, reader.Describe(view.point));
    stamp.own_ = EncodeStamp(info, reader.TokenOf(info.id), IsDegraded(info, tables));
  }
  v1::SnapshotStamp extra;  // appended, it is merged into the same message
  FillSources(view, info, sources, now, extra.mutable_sources());
  extra.AppendToString(&stamp.own_);
  return stamp;
}

std::string_view Stamp::token() const {
  // It comes first, and is shorter than 128 bytes: one byte of tag, one of length.
  const std::string_view bytes = wire();
  if (bytes.size() < 2 || bytes[0] != (kTokenField << 3 | 2)) return {};
  const auto length = static_cast<unsigned char>(bytes[1]);
  return length < 0x80 ? bytes.substr(2, length) : std::string_view();
}

}  // namespace tidemark::services
