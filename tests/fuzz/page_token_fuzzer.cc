// Page tokens come from callers: any text is refused, or encodes to the same text again.
#include <string_view>

#include "common/check.h"
#include "server/services/page_token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const tidemark::services::PageTokenCodec codec(tidemark::state::Incarnation{1, 2, 3});
  // The first half of the input also serves as what the token is bound to.
  const tidemark::services::PageScope scopes[] = {
      {"ScanRows", "default", "agent", "request"},
      {"ListTables", text.substr(0, size / 2), text.substr(size / 2), std::string(text)}};
  for (const tidemark::services::PageScope& scope : scopes) {
    const auto token = codec.Decode(text, scope);
    if (token.ok()) TIDEMARK_CHECK(codec.Encode(*token, scope) == text);
    const tidemark::services::PageToken written{.snapshot = size, .after = std::string(text)};
    const auto read = codec.Decode(codec.Encode(written, scope), scope);
    // Longer than a key can be: refused, never cut.
    if (size <= 4096) TIDEMARK_CHECK(read.ok() && *read == written);
  }
  return 0;
}
