// The `meta` of a stored version; byte by byte in docs/storage_format_rows.md.
#include "common/error.h"
#include "storage/state/coding.h"
#include "storage/tables/row_codec.h"

namespace tidemark::tables {
namespace {

enum Flag : uint8_t {
  kPresenceBits = 0x03,
  kForgettable = 0x04,
  kHasTotals = 0x08,
  kKnown = 0x10,
  kAllFlags = 0x1f,
};

absl::Status Damaged() {
  return MakeError(Reason::kDataDamaged, "The stored state of a row's groups does not decode.");
}

bool ReadGroup(state::ByteReader& reader, GroupState* group) {
  uint8_t flags = 0;
  if (!reader.ReadByte(&flags) || (flags & ~kAllFlags) != 0 || (flags & kPresenceBits) > 2 ||
      (flags != 0 && (flags & kKnown) == 0)) {
    return false;
  }
  group->presence = static_cast<GroupState::Presence>(flags & kPresenceBits);
  group->forgettable = (flags & kForgettable) != 0;
  // A group nothing is known of is this one byte.
  if (flags == 0) return true;
  if (!reader.ReadVarint(&group->generation) || !reader.ReadString(&group->sequence) ||
      !reader.ReadString(&group->position)) {
    return false;
  }
  if (!reader.ReadTime(&group->event_time)) return false;
  return (flags & kHasTotals) == 0 || reader.ReadString(&group->totals);
}

}  // namespace

std::string EncodeMeta(const std::vector<GroupState>& groups) {
  std::string out;
  for (const GroupState& group : groups) {
    if (group == GroupState()) {
      out += '\0';
      continue;
    }
    out += static_cast<char>(kKnown | static_cast<uint8_t>(group.presence) |
                             (group.forgettable ? kForgettable : 0) |
                             (group.totals.empty() ? 0 : kHasTotals));
    state::AppendVarint(&out, group.generation);
    state::AppendBytes(&out, group.sequence);
    state::AppendBytes(&out, group.position);
    state::AppendTime(&out, group.event_time);
    if (!group.totals.empty()) state::AppendBytes(&out, group.totals);
  }
  return out;
}

absl::StatusOr<std::vector<GroupState>> DecodeMeta(std::string_view meta, size_t groups) {
  state::ByteReader reader(meta);
  std::vector<GroupState> decoded(groups);
  for (GroupState& group : decoded) {
    if (!ReadGroup(reader, &group)) return Damaged();
  }
  if (!reader.done()) return Damaged();
  return decoded;
}

}  // namespace tidemark::tables
