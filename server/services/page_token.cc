#include "server/services/page_token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/escaping.h"
#include "common/check.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"

namespace tidemark::services {
namespace {

// Payload: version, snapshot (8 bytes, big-endian), `after`. Then the checksum.
constexpr char kVersion = 1;
constexpr size_t kHeadBytes = 9;
constexpr size_t kChecksumBytes = 16;

static_assert((kHeadBytes + limits::kMaxKeyBytes + kChecksumBytes + 2) / 3 * 4 <=
              limits::kMaxPageTokenBytes);

void AppendFixed64(uint64_t value, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

void AppendPart(std::string_view part, std::string* out) {
  AppendFixed64(part.size(), out);
  out->append(part);
}

std::string Hmac(std::string_view key, std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  TIDEMARK_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                      reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest,
                      &size) != nullptr);
  return std::string(reinterpret_cast<char*>(digest), size);
}

absl::Status Invalid() {
  return MakeError(Reason::kPageTokenInvalid,
                   "page_token: damaged, or of another request or principal. Send the other fields "
                   "as in the first call, or begin again without it.",
                   {{"field", "page_token"}});
}

}  // namespace

PageTokenCodec::PageTokenCodec(const state::Incarnation& incarnation)
    : key_(Hmac({reinterpret_cast<const char*>(incarnation.data()), incarnation.size()},
                "tidemark page token v1")) {}

std::string PageTokenCodec::Checksum(std::string_view payload, const PageScope& scope) const {
  std::string data;
  AppendPart(payload, &data);
  AppendPart(scope.method, &data);
  AppendPart(scope.tenant, &data);
  AppendPart(scope.subject, &data);
  AppendPart(scope.request, &data);
  return Hmac(key_, data).substr(0, kChecksumBytes);
}

std::string PageTokenCodec::Encode(const PageToken& token, const PageScope& scope) const {
  std::string bytes(1, kVersion);
  AppendFixed64(token.snapshot, &bytes);
  bytes += token.after;
  bytes += Checksum(bytes, scope);
  return absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<PageToken> PageTokenCodec::Decode(std::string_view text,
                                                 const PageScope& scope) const {
  std::string bytes;
  if (text.size() > limits::kMaxPageTokenBytes ||
      !absl::WebSafeBase64Unescape(ToAbsl(text), &bytes) ||
      bytes.size() < kHeadBytes + kChecksumBytes || bytes[0] != kVersion ||
      absl::WebSafeBase64Escape(bytes) != text) {  // one spelling only
    return Invalid();
  }
  const std::string_view all = bytes;
  const std::string_view payload = all.substr(0, all.size() - kChecksumBytes);
  const std::string expected = Checksum(payload, scope);
  if (CRYPTO_memcmp(expected.data(), all.data() + payload.size(), kChecksumBytes) != 0) {
    return Invalid();
  }
  PageToken token;
  for (size_t i = 1; i < kHeadBytes; ++i) {
    token.snapshot = token.snapshot << 8 | static_cast<unsigned char>(payload[i]);
  }
  token.after = payload.substr(kHeadBytes);
  return token;
}

}  // namespace tidemark::services
