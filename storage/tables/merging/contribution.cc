#include "storage/tables/merging/contribution.h"

#include "common/error.h"
#include "storage/state/coding.h"

namespace tidemark::tables {
namespace {

enum Flag : uint8_t { kDeleted = 0x01, kCounted = 0x02, kAllFlags = 0x03 };

absl::Status Damaged(const char* what) {
  return MakeError(Reason::kDataDamaged, std::string(what) + " does not decode.");
}

}  // namespace

int CompareOrder(const EventOrder& a, const EventOrder& b) {
  if (a.generation != b.generation) return a.generation < b.generation ? -1 : 1;
  return a.sequence.compare(b.sequence);
}

std::string EncodeOrder(const EventOrder& order) {
  std::string out;
  state::AppendBigEndian64(&out, order.generation);
  return out + order.sequence;
}

std::string EncodeContribution(const Contribution& contribution) {
  std::string out;
  out += static_cast<char>((contribution.deleted ? kDeleted : 0) |
                           (contribution.counted ? kCounted : 0));
  state::AppendVarint(&out, contribution.order.generation);
  state::AppendBytes(&out, contribution.order.sequence);
  if (contribution.deleted) return out;
  state::AppendBytes(&out, contribution.group_key);
  std::string value;
  for (const Datum& datum : contribution.image) {
    value.clear();
    AppendValue(datum, value);
    state::AppendBytes(&out, value);
  }
  return out;
}

absl::StatusOr<Contribution> DecodeContribution(std::string_view bytes, size_t columns) {
  constexpr char kWhat[] = "A stored contribution";
  state::ByteReader reader(bytes);
  Contribution contribution;
  uint8_t flags = 0;
  if (!reader.ReadByte(&flags) || (flags & ~kAllFlags) != 0 ||
      !reader.ReadVarint(&contribution.order.generation) ||
      !reader.ReadString(&contribution.order.sequence)) {
    return Damaged(kWhat);
  }
  contribution.deleted = (flags & kDeleted) != 0;
  contribution.counted = (flags & kCounted) != 0;
  if (!contribution.deleted) {
    if (!reader.ReadString(&contribution.group_key)) return Damaged(kWhat);
    contribution.image.reserve(columns);
    for (size_t i = 0; i < columns; ++i) {
      std::string_view value;
      if (!reader.ReadBytes(&value)) return Damaged(kWhat);
      TIDEMARK_ASSIGN_OR_RETURN(contribution.image.emplace_back(), ParseValue(value));
    }
  }
  if (!reader.done()) return Damaged(kWhat);
  return contribution;
}

bool IsDeletedContribution(std::string_view bytes) {
  return !bytes.empty() && (static_cast<uint8_t>(bytes[0]) & kDeleted) != 0;
}

std::string EncodeGroupHeader(const GroupHeader& header) {
  std::string out;
  state::AppendBytes(&out, header.bindings);
  state::AppendBytes(&out, header.truncation);
  for (const Kind kind : header.order_types) out += static_cast<char>(kind);
  return out;
}

absl::StatusOr<GroupHeader> DecodeGroupHeader(std::string_view bytes) {
  state::ByteReader reader(bytes);
  GroupHeader header;
  reader.ReadString(&header.bindings);
  reader.ReadString(&header.truncation);
  if (!reader.ok()) return Damaged("A stored group header");
  for (const char kind : reader.rest()) {
    if (static_cast<uint8_t>(kind) > static_cast<uint8_t>(Kind::kList)) {
      return Damaged("A stored group header");
    }
    header.order_types.push_back(static_cast<Kind>(kind));
  }
  return header;
}

std::string ContributionPrefix(state::TableId table, size_t group) {
  std::string out;
  state::AppendOrdered(&out, table);
  state::AppendOrdered(&out, group);
  return out;
}

}  // namespace tidemark::tables
