// The token file (auth.token_file): principals and the SHA-256 of their tokens.
#ifndef TIDEMARK_SERVER_CONFIG_TOKEN_FILE_H_
#define TIDEMARK_SERVER_CONFIG_TOKEN_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/authenticator.h"

namespace tidemark {

// INVALID_ARGUMENT with "FILE: line N: problem"; NOT_FOUND for a file that cannot be read.
absl::StatusOr<std::vector<TokenEntry>> LoadTokens(const std::string& file);
// The same for text that was already read.
absl::StatusOr<std::vector<TokenEntry>> ParseTokens(std::string_view yaml, std::string_view file);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_CONFIG_TOKEN_FILE_H_
