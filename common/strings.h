// The bridge between std::string_view and Debian's absl::string_view, which is a type of its own.
#ifndef TIDEMARK_COMMON_STRINGS_H_
#define TIDEMARK_COMMON_STRINGS_H_

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace tidemark {

inline absl::string_view ToAbsl(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view ToStd(absl::string_view s) { return {s.data(), s.size()}; }

// `bytes` for a message or a log line: printable ASCII as it is, everything else as \xNN, cut to
// `limit` characters (with "..." then). Never returns control characters.
std::string Printable(std::string_view bytes, size_t limit = 120);

// The same between double quotes, with quotes inside as \", so that a text that came from somebody
// cannot be taken for more of the message than it is. For every quoted name or value in a message.
std::string Quoted(std::string_view bytes, size_t limit = 120);

// `bytes` as valid UTF-8 of at most `limit` bytes: cut at a character, every byte that is no part
// of one replaced by '?'. For proto string fields and log lines, which must hold nothing else.
std::string ValidUtf8(std::string_view bytes, size_t limit = std::string_view::npos);

// Whether `bytes` is well-formed UTF-8 (no surrogates, nothing overlong, nothing past U+10FFFF).
// U+0000 is well-formed.
bool IsUtf8(std::string_view bytes);

// Lower-case hexadecimal.
std::string ToHex(std::string_view bytes);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_STRINGS_H_
