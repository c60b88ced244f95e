// Bytes of numbers and strings inside keys and values: the only place that knows them. Byte by byte
// in docs/storage_format.md.
#ifndef TIDEMARK_STORAGE_STATE_CODING_H_
#define TIDEMARK_STORAGE_STATE_CODING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace tidemark::state {

// --- For keys: memcmp orders like the numbers.

// Eight bytes, most significant first.
void AppendBigEndian64(std::string* out, uint64_t value);
uint64_t ReadBigEndian64(const char* eight_bytes);

// One byte for values below 0xf8; else 0xf7 + n, then n bytes (1 to 8), most significant first.
void AppendOrdered(std::string* out, uint64_t value);

// --- For values.

// Seven bits a byte, least significant first, at most ten bytes.
void AppendVarint(std::string* out, uint64_t value);
// A varint length, then the bytes.
void AppendBytes(std::string* out, std::string_view bytes);
// Microseconds since 1970; InfinitePast ("unknown") is kept, other times are cut to what
// microseconds in 62 bits hold.
void AppendTime(std::string* out, absl::Time time);

// Reads what the functions above wrote, front to back. Every Read returns false, and from then on
// every other one too, when the bytes left are not of that form: check once at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ReadByte(uint8_t* value);
  bool ReadFixed(size_t size, std::string_view* bytes);
  bool ReadBigEndian64(uint64_t* value);
  bool ReadOrdered(uint64_t* value);
  bool ReadVarint(uint64_t* value);
  bool ReadVarint32(uint32_t* value);
  bool ReadBytes(std::string_view* bytes);
  bool ReadString(std::string* bytes);
  bool ReadTime(absl::Time* time);

  bool ok() const { return ok_; }
  // Everything was read, and all of it was well-formed.
  bool done() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  bool Fail();

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_CODING_H_
