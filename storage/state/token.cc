#include "storage/state/token.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "storage/state/coding.h"
#include "storage/state/crc32c.h"

namespace tidemark::state {
namespace {

constexpr uint8_t kTokenVersion = 1;
constexpr size_t kIncarnationBytes = std::tuple_size_v<Incarnation>;
constexpr size_t kChecksummedBytes = 1 + kIncarnationBytes + 8;
constexpr size_t kTokenBytes = kChecksummedBytes + 4;
static_assert((kTokenBytes * 4 + 2) / 3 <= limits::kMaxTokenBytes);

void AppendChecksum(std::string* bytes) {
  const uint32_t crc = Crc32c(*bytes);
  for (int shift = 24; shift >= 0; shift -= 8) bytes->push_back(static_cast<char>(crc >> shift));
}

absl::Status Malformed(std::string_view problem) {
  return MakeError(Reason::kTokenMalformed, std::string("Not a snapshot token of Tidemark: ") +
                                                std::string(problem) +
                                                ". Use a token exactly as it was returned.");
}

}  // namespace

std::string EncodeToken(const SnapshotToken& token) {
  std::string bytes(1, static_cast<char>(kTokenVersion));
  bytes.append(reinterpret_cast<const char*>(token.incarnation.data()), kIncarnationBytes);
  AppendBigEndian64(&bytes, token.snapshot);
  AppendChecksum(&bytes);
  return absl::WebSafeBase64Escape(ToAbsl(bytes));
}

absl::StatusOr<SnapshotToken> DecodeToken(std::string_view text) {
  if (text.empty()) return Malformed("it is empty");
  if (text.size() > limits::kMaxTokenBytes) return Malformed("it is too long");
  std::string bytes;
  if (!absl::WebSafeBase64Unescape(ToAbsl(text), &bytes)) {
    return Malformed("it is not URL-safe base64");
  }
  if (bytes.empty() || static_cast<uint8_t>(bytes[0]) != kTokenVersion) {
    return Malformed("its version is unknown");
  }
  if (bytes.size() != kTokenBytes) return Malformed("it has the wrong length");
  // Base64 readers forgive padding, blanks and stray bits; one snapshot has one token here.
  if (ToAbsl(text) != absl::string_view(absl::WebSafeBase64Escape(ToAbsl(bytes)))) {
    return Malformed("it is not written as it was returned");
  }
  std::string expected = bytes.substr(0, kChecksummedBytes);
  AppendChecksum(&expected);
  if (expected != bytes) return Malformed("its checksum does not match");
  SnapshotToken token;
  std::copy_n(bytes.begin() + 1, kIncarnationBytes, token.incarnation.begin());
  token.snapshot = ReadBigEndian64(bytes.data() + 1 + kIncarnationBytes);
  if (token.snapshot == kNoSnapshot) return Malformed("it names no snapshot");
  return token;
}

}  // namespace tidemark::state
