// Tokens come from callers: any text decodes to a token that encodes to the same text, or is
// refused.
#include <string_view>

#include "common/check.h"
#include "storage/state/token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = tidemark::state::DecodeToken(text);
  if (token.ok()) TIDEMARK_CHECK(tidemark::state::EncodeToken(*token) == text);
  return 0;
}
