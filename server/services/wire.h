// Protobuf's wire form, written by hand where an answer is spliced from stored bytes instead of
// being built as a message.
#ifndef TIDEMARK_SERVER_SERVICES_WIRE_H_
#define TIDEMARK_SERVER_SERVICES_WIRE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::services {

inline constexpr size_t kMaxVarintBytes = 10;

inline size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

// A few fields on the stack. Field numbers are below 16, so a tag is one byte; what is written
// fits, or the caller is wrong (not checked).
class SmallWire {
 public:
  // The head of a length-delimited field; its bytes follow in the answer.
  SmallWire& Length(int field, size_t length) {
    bytes_[size_++] = static_cast<char>(field << 3 | 2);
    return Varint(length);
  }
  // A varint field; nothing for 0, the default.
  SmallWire& Number(int field, uint64_t value) {
    if (value == 0) return *this;
    bytes_[size_++] = static_cast<char>(field << 3);
    return Varint(value);
  }
  std::string_view bytes() const { return {bytes_.data(), size_}; }

 private:
  SmallWire& Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_[size_++] = static_cast<char>(value | 0x80);
    bytes_[size_++] = static_cast<char>(value);
    return *this;
  }
  std::array<char, 48> bytes_;
  size_t size_ = 0;
};

inline void AppendLength(int field, size_t length, std::string* out) {
  out->append(SmallWire().Length(field, length).bytes());
}
inline void AppendBytes(int field, std::string_view bytes, std::string* out) {
  AppendLength(field, bytes.size(), out);
  out->append(bytes);
}
inline void AppendNumber(int field, uint64_t value, std::string* out) {
  out->append(SmallWire().Number(field, value).bytes());
}
// Bytes of a length-delimited field of this length, head and all.
inline size_t FieldSize(size_t length) { return 1 + VarintSize(length) + length; }

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_WIRE_H_
