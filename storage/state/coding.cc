#include "storage/state/coding.h"

#include <algorithm>

namespace tidemark::state {
namespace {

constexpr uint8_t kOrderedInline = 0xf8;  // the first value that needs more than its own byte
constexpr int64_t kMaxMicros = int64_t{1} << 62;

void AppendBigEndian(std::string* out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

uint64_t FromBigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = (value << 8) | static_cast<uint8_t>(c);
  return value;
}

int SignificantBytes(uint64_t value) {
  int bytes = 1;
  while (bytes < 8 && (value >> (8 * bytes)) != 0) ++bytes;
  return bytes;
}

uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

}  // namespace

void AppendBigEndian64(std::string* out, uint64_t value) { AppendBigEndian(out, value, 8); }

uint64_t ReadBigEndian64(const char* eight_bytes) {
  return FromBigEndian(std::string_view(eight_bytes, 8));
}

void AppendOrdered(std::string* out, uint64_t value) {
  if (value < kOrderedInline) {
    out->push_back(static_cast<char>(value));
    return;
  }
  const int bytes = SignificantBytes(value);
  out->push_back(static_cast<char>(kOrderedInline - 1 + bytes));
  AppendBigEndian(out, value, bytes);
}

void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendBytes(std::string* out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

void AppendTime(std::string* out, absl::Time time) {
  if (time == absl::InfinitePast()) {
    AppendVarint(out, 0);
    return;
  }
  const int64_t micros = std::clamp(absl::ToUnixMicros(time), -kMaxMicros, kMaxMicros);
  AppendVarint(out, ZigZag(micros) + 1);
}

bool ByteReader::Fail() {
  ok_ = false;
  rest_ = {};
  return false;
}

bool ByteReader::ReadByte(uint8_t* value) {
  if (rest_.empty()) return Fail();
  *value = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return true;
}

bool ByteReader::ReadFixed(size_t size, std::string_view* bytes) {
  if (rest_.size() < size) return Fail();
  *bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool ByteReader::ReadBigEndian64(uint64_t* value) {
  std::string_view bytes;
  if (!ReadFixed(8, &bytes)) return false;
  *value = FromBigEndian(bytes);
  return true;
}

bool ByteReader::ReadOrdered(uint64_t* value) {
  uint8_t first = 0;
  if (!ReadByte(&first)) return false;
  if (first < kOrderedInline) {
    *value = first;
    return true;
  }
  const int size = first - kOrderedInline + 1;
  std::string_view bytes;
  if (!ReadFixed(size, &bytes)) return false;
  *value = FromBigEndian(bytes);
  // One form per number, or equal keys could differ in their bytes.
  if (*value < kOrderedInline || SignificantBytes(*value) != size) return Fail();
  return true;
}

bool ByteReader::ReadVarint(uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte = 0;
    if (!ReadByte(&byte)) return false;
    if (shift == 63 && byte > 1) return Fail();
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return Fail();
}

bool ByteReader::ReadVarint32(uint32_t* value) {
  uint64_t wide = 0;
  if (!ReadVarint(&wide)) return false;
  if (wide > UINT32_MAX) return Fail();
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool ByteReader::ReadBytes(std::string_view* bytes) {
  uint64_t size = 0;
  if (!ReadVarint(&size)) return false;
  if (size > rest_.size()) return Fail();
  return ReadFixed(size, bytes);
}

bool ByteReader::ReadString(std::string* bytes) {
  std::string_view view;
  if (!ReadBytes(&view)) return false;
  bytes->assign(view);
  return true;
}

bool ByteReader::ReadTime(absl::Time* time) {
  uint64_t coded = 0;
  if (!ReadVarint(&coded)) return false;
  if (coded == 0) {
    *time = absl::InfinitePast();
    return true;
  }
  const int64_t micros = UnZigZag(coded - 1);
  if (micros < -kMaxMicros || micros > kMaxMicros) return Fail();
  *time = absl::FromUnixMicros(micros);
  return true;
}

}  // namespace tidemark::state
