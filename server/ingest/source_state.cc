#include "server/ingest/source_state.h"

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/state/coding.h"

namespace tidemark::ingest {
namespace {

// Kind bytes and formats are on disk: never renumber.
constexpr char kPartition = 'p';
constexpr char kCopy = 'c';
constexpr char kDegraded = 'd';
constexpr char kCopyMarkFormat = 1;
constexpr size_t kTableBytes = 8;

std::string Key(std::string_view source, char kind) {
  std::string key(source);
  key.push_back('\0');
  key.push_back(kind);
  return key;
}

absl::Status Damaged(std::string_view what, std::string_view bytes) {
  return MakeError(Reason::kDataDamaged,
                   absl::StrCat("The durable state of a source holds ", ToAbsl(what),
                                " of unknown form: ", Printable(bytes),
                                ". Restore a backup, or check the directory with --verify."));
}

// Takes one entry, its key without "source \0", into `durable`.
absl::Status Collect(std::string_view key, std::string_view value, DurableState& durable) {
  if (key.empty()) return Damaged("a key", key);
  const std::string_view rest = key.substr(1);
  switch (key[0]) {
    case kPartition:
      durable.partitions.emplace(rest, value);
      return absl::OkStatus();
    case kDegraded:
      durable.degraded = true;
      return absl::OkStatus();
    case kCopy: {
      if (rest.size() <= kTableBytes) return Damaged("a key", key);
      const size_t name = rest.size() - kTableBytes;
      const auto table = static_cast<state::TableId>(state::ReadBigEndian64(rest.data() + name));
      TIDEMARK_ASSIGN_OR_RETURN(CopyMark mark, DecodeCopyMark(value));
      durable.copied.emplace(std::make_pair(std::string(rest.substr(0, name)), table),
                             std::move(mark));
      return absl::OkStatus();
    }
    default:
      return Damaged("a key", key);
  }
}

}  // namespace

std::string PartitionKey(std::string_view source, std::string_view partition) {
  return Key(source, kPartition).append(partition);
}

std::string CopyMarkKey(std::string_view source, std::string_view relation, state::TableId table) {
  std::string key = Key(source, kCopy).append(relation);
  state::AppendBigEndian64(&key, table);
  return key;
}

std::string DegradedKey(std::string_view source) { return Key(source, kDegraded); }

std::string EncodeCopyMark(const CopyMark& mark) {
  std::string bytes(1, kCopyMarkFormat);
  state::AppendVarint(&bytes, mark.generation);
  state::AppendBytes(&bytes, mark.position);
  return bytes;
}

absl::StatusOr<CopyMark> DecodeCopyMark(std::string_view bytes) {
  state::ByteReader reader(bytes);
  uint8_t format = 0;
  CopyMark mark;
  reader.ReadByte(&format);
  reader.ReadVarint(&mark.generation);
  reader.ReadString(&mark.position);
  if (!reader.done() || format != kCopyMarkFormat) return Damaged("a copy mark", bytes);
  return mark;
}

absl::StatusOr<DurableState> ReadDurableState(state::StateWriter& writer, std::string_view source) {
  std::string prefix(source);
  prefix.push_back('\0');
  DurableState durable;
  absl::Status collected;
  TIDEMARK_RETURN_IF_ERROR(
      writer.VisitAux(state::AuxSpace::kSourceState, prefix, {}, /*reverse=*/false,
                      [&](std::string_view key, std::string_view value) {
                        collected = Collect(key.substr(prefix.size()), value, durable);
                        return collected.ok();
                      }));
  TIDEMARK_RETURN_IF_ERROR(collected);
  return durable;
}

}  // namespace tidemark::ingest
