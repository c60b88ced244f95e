#include "server/ingest/postgres/lsn.h"

#include <charconv>
#include <system_error>

#include "absl/strings/str_format.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/state/coding.h"

namespace tidemark::ingest {
namespace {

// One to eight hexadecimal digits.
bool ParseHex32(std::string_view text, uint32_t* value) {
  if (text.empty() || text.size() > 8) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string FormatLsn(Lsn lsn) {
  return absl::StrFormat("%X/%X", static_cast<uint32_t>(lsn >> 32), static_cast<uint32_t>(lsn));
}

absl::StatusOr<Lsn> ParseLsn(std::string_view text) {
  const size_t slash = text.find('/');
  uint32_t high = 0, low = 0;
  if (slash == std::string_view::npos || !ParseHex32(text.substr(0, slash), &high) ||
      !ParseHex32(text.substr(slash + 1), &low)) {
    return FieldInvalid("position", Quoted(text, 40) +
                                        " is no log position; write it as PostgreSQL does, for "
                                        "example 0/16B3748.");
  }
  return Lsn{high} << 32 | low;
}

std::string LsnBytes(Lsn lsn) {
  std::string bytes;
  state::AppendBigEndian64(&bytes, lsn);
  return bytes;
}

Lsn LsnOfBytes(std::string_view bytes) {
  return bytes.size() == 8 ? state::ReadBigEndian64(bytes.data()) : 0;
}

std::string EventSequence(Lsn commit_lsn, uint64_t event_number) {
  // Five bytes hold more events than a transaction can have, and the whole still lies inside of a
  // std::string without memory of its own.
  constexpr int kNumberBytes = 5;
  std::string bytes = LsnBytes(commit_lsn);
  for (int i = kNumberBytes - 1; i >= 0; --i) {
    bytes.push_back(static_cast<char>(event_number >> (8 * i) & 0xff));
  }
  return bytes;
}

}  // namespace tidemark::ingest
