// Order-preserving encoding of row keys: memcmp of two encodings orders like the values, column by
// column, and the encoding of a key prefix is a prefix of the encoding. Byte by byte in
// docs/storage_format.md.
//
// Example:
//   KeyEncoder e;
//   e.AddString("C-17").AddInt(4);
//   store.Get(point, table, e.bytes(), &row);
#ifndef TIDEMARK_STORAGE_STATE_TUPLE_KEY_H_
#define TIDEMARK_STORAGE_STATE_TUPLE_KEY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::state {

// Element types; numbers are on disk: never renumber. Each element starts with its type byte.
enum class KeyType : uint8_t {
  kNull = 0x01,
  kBool = 0x02,
  kInt = 0x03,
  kDecimal = 0x04,
  kString = 0x05,
  kBytes = 0x06,
  kDate = 0x07,       // days since 1970-01-01
  kTime = 0x08,       // microseconds since midnight
  kTimestamp = 0x09,  // microseconds since 1970-01-01T00:00:00Z
};

class KeyEncoder {
 public:
  KeyEncoder& AddNull();
  KeyEncoder& AddBool(bool value);
  KeyEncoder& AddInt(int64_t value);
  KeyEncoder& AddString(std::string_view utf8);
  KeyEncoder& AddBytes(std::string_view bytes);
  KeyEncoder& AddDate(int32_t days);
  KeyEncoder& AddTime(int64_t micros);
  KeyEncoder& AddTimestamp(int64_t micros);
  // `text`: [-]digits[.digits], no exponent. 1.0 and 1.00 give one key.
  // KEY_MALFORMED when it is not of that form or has more than 1000 digits.
  absl::Status AddDecimal(std::string_view text);

  const std::string& bytes() const { return bytes_; }
  std::string Release() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// One decoded element. `number`: bool, int, date, time, timestamp; `text`: string, bytes, decimal
// (canonical text).
struct KeyElement {
  KeyType type = KeyType::kNull;
  int64_t number = 0;
  std::string text;
  bool operator==(const KeyElement&) const = default;
};

// The elements of an encoded key. KEY_MALFORMED for anything KeyEncoder does not write (decoding
// and encoding again gives the same bytes).
absl::StatusOr<std::vector<KeyElement>> DecodeKey(std::string_view bytes);

// The smallest string greater than every string that starts with `prefix`; empty when there is
// none (all 0xff or empty).
std::string PrefixEnd(std::string_view prefix);

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_TUPLE_KEY_H_
