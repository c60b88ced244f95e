#include "common/strings.h"

#include <cstdint>
#include <cstring>

namespace tidemark {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// Length of the UTF-8 character at the start of `bytes` (not empty); 0 when there is none.
size_t CharacterLength(std::string_view bytes) {
  const auto byte = [bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies past U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string Printable(std::string_view bytes, size_t limit) {
  std::string out;
  for (unsigned char c : bytes) {
    if (out.size() >= limit) {
      out += "...";
      break;
    }
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      out += static_cast<char>(c);
    } else {
      out += "\\x";
      out += kHexDigits[c >> 4];
      out += kHexDigits[c & 15];
    }
  }
  return out;
}

std::string Quoted(std::string_view bytes, size_t limit) {
  std::string out = "\"";
  // Backslashes are escaped already: one that is left belongs to an escape.
  for (const char c : Printable(bytes, limit)) {
    if (c == '"') out += '\\';
    out += c;
  }
  out += '"';
  return out;
}

std::string ValidUtf8(std::string_view bytes, size_t limit) {
  std::string out;
  while (!bytes.empty()) {
    const size_t length = CharacterLength(bytes);
    if (out.size() + (length == 0 ? 1 : length) > limit) break;
    if (length == 0) {
      out += '?';
      bytes.remove_prefix(1);
    } else {
      out.append(bytes.substr(0, length));
      bytes.remove_prefix(length);
    }
  }
  return out;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    // Nearly all text is ASCII: eight bytes at a time.
    uint64_t word;
    if (bytes.size() >= sizeof(word)) {
      std::memcpy(&word, bytes.data(), sizeof(word));
      if ((word & 0x8080808080808080u) == 0) {
        bytes.remove_prefix(sizeof(word));
        continue;
      }
    }
    const size_t length = CharacterLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string ToHex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char c : bytes) {
    out += kHexDigits[c >> 4];
    out += kHexDigits[c & 15];
  }
  return out;
}

}  // namespace tidemark
