#include "storage/state/tuple_key.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "storage/state/coding.h"

namespace tidemark::state {
namespace {

constexpr size_t kMaxDecimalDigits = 1000;

// Integers: 0x80 + n or 0x80 - n, n the number of bytes of the magnitude, then the magnitude, most
// significant byte first; negative ones inverted, so that the greater magnitude sorts first.
constexpr int kZeroTag = 0x80;

// Decimals: sign, exponent, then two digits a byte (each pair + 1) up to a zero byte. The value is
// 0.DDDD times ten to the exponent, with the first and the last digit not zero. Everything after
// the sign is inverted for negative ones.
constexpr uint8_t kNegative = 1;
constexpr uint8_t kZero = 2;
constexpr uint8_t kPositive = 3;
constexpr int kExponentBias = 0x8000;

// Text: 0x00 becomes 0x00 0xff, and 0x00 0x01 ends it. Two bytes end it so that no encoding is the
// prefix of another: with one, "a" would be a prefix of "a\0".
constexpr char kEscaped = '\xff';
constexpr char kEnd = '\x01';

absl::Status Malformed(std::string_view problem) {
  return MakeError(Reason::kKeyMalformed,
                   std::string("The key is malformed: ") + std::string(problem) + ".");
}

void AppendType(std::string* out, KeyType type) { out->push_back(static_cast<char>(type)); }

void AppendInteger(std::string* out, KeyType type, int64_t value) {
  AppendType(out, type);
  const bool negative = value < 0;
  const uint64_t magnitude =
      negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  int bytes = 0;
  while (bytes < 8 && (magnitude >> (8 * bytes)) != 0) ++bytes;
  out->push_back(static_cast<char>(negative ? kZeroTag - bytes : kZeroTag + bytes));
  const uint64_t coded = negative ? ~magnitude : magnitude;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(coded >> shift));
  }
}

bool ReadInteger(ByteReader* in, int64_t* value) {
  uint8_t tag = 0;
  if (!in->ReadByte(&tag)) return false;
  const bool negative = tag < kZeroTag;
  const int size = negative ? kZeroTag - tag : tag - kZeroTag;
  std::string_view bytes;
  if (size > 8 || !in->ReadFixed(size, &bytes)) return false;
  uint64_t magnitude = 0;
  for (const char c : bytes) {
    const uint8_t byte = static_cast<uint8_t>(c);
    magnitude = (magnitude << 8) | static_cast<uint8_t>(negative ? ~byte : byte);
  }
  if (size > 0 && (magnitude >> (8 * (size - 1))) == 0) return false;  // not the shortest form
  const uint64_t limit = uint64_t{1} << 63;
  if (negative ? magnitude > limit : magnitude >= limit) return false;
  *value = negative ? static_cast<int64_t>(~magnitude + 1) : static_cast<int64_t>(magnitude);
  return true;
}

void AppendText(std::string* out, KeyType type, std::string_view text) {
  AppendType(out, type);
  for (const char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back(kEscaped);
  }
  out->push_back('\0');
  out->push_back(kEnd);
}

bool ReadText(ByteReader* in, std::string* text) {
  uint8_t byte = 0;
  while (in->ReadByte(&byte)) {
    if (byte != 0) {
      text->push_back(static_cast<char>(byte));
      continue;
    }
    if (!in->ReadByte(&byte)) return false;
    if (static_cast<char>(byte) == kEnd) return true;
    if (static_cast<char>(byte) != kEscaped) return false;
    text->push_back('\0');
  }
  return false;
}

// A decimal taken apart: `digits` without leading or trailing zeros; empty for zero.
struct DecimalParts {
  bool negative = false;
  int exponent = 0;
  std::string digits;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::Status ParseDecimal(std::string_view text, DecimalParts* parts) {
  const auto malformed = [text] {
    return Malformed(Quoted(text) + " is not a decimal like -12.50");
  };
  std::string_view rest = text;
  if (!rest.empty() && rest.front() == '-') {
    parts->negative = true;
    rest.remove_prefix(1);
  }
  const size_t point = rest.find('.');
  const std::string_view whole = rest.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : rest.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && fraction.empty())) return malformed();
  if (!std::all_of(whole.begin(), whole.end(), IsDigit) ||
      !std::all_of(fraction.begin(), fraction.end(), IsDigit)) {
    return malformed();
  }
  if (whole.size() + fraction.size() > kMaxDecimalDigits) {
    return Malformed("a decimal has more than 1000 digits");
  }
  std::string digits = std::string(whole) + std::string(fraction);
  const size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) {
    *parts = DecimalParts();
    return absl::OkStatus();
  }
  parts->exponent = static_cast<int>(whole.size()) - static_cast<int>(first);
  parts->digits = digits.substr(first, digits.find_last_not_of('0') + 1 - first);
  return absl::OkStatus();
}

void AppendDecimalParts(std::string* out, const DecimalParts& parts) {
  AppendType(out, KeyType::kDecimal);
  if (parts.digits.empty()) {
    out->push_back(static_cast<char>(kZero));
    return;
  }
  out->push_back(static_cast<char>(parts.negative ? kNegative : kPositive));
  const size_t start = out->size();
  const int exponent = parts.exponent + kExponentBias;
  out->push_back(static_cast<char>(exponent >> 8));
  out->push_back(static_cast<char>(exponent));
  for (size_t i = 0; i < parts.digits.size(); i += 2) {
    const int high = parts.digits[i] - '0';
    const int low = i + 1 < parts.digits.size() ? parts.digits[i + 1] - '0' : 0;
    out->push_back(static_cast<char>(10 * high + low + 1));
  }
  out->push_back('\0');
  if (parts.negative) {
    for (size_t i = start; i < out->size(); ++i) (*out)[i] = static_cast<char>(~(*out)[i]);
  }
}

std::string DecimalText(const DecimalParts& parts) {
  if (parts.digits.empty()) return "0";
  std::string text = parts.negative ? "-" : "";
  const int size = static_cast<int>(parts.digits.size());
  if (parts.exponent <= 0) {
    text += "0." + std::string(-parts.exponent, '0') + parts.digits;
  } else if (parts.exponent >= size) {
    text += parts.digits + std::string(parts.exponent - size, '0');
  } else {
    text += parts.digits.substr(0, parts.exponent) + "." + parts.digits.substr(parts.exponent);
  }
  return text;
}

bool ReadDecimal(ByteReader* in, std::string* text) {
  const std::string_view start = in->rest();
  uint8_t sign = 0;
  if (!in->ReadByte(&sign) || sign < kNegative || sign > kPositive) return false;
  DecimalParts parts;
  if (sign != kZero) {
    parts.negative = sign == kNegative;
    const uint8_t flip = parts.negative ? 0xff : 0;
    uint8_t high = 0, low = 0, pair = 0;
    if (!in->ReadByte(&high) || !in->ReadByte(&low)) return false;
    parts.exponent = ((high ^ flip) << 8 | (low ^ flip)) - kExponentBias;
    const int limit = static_cast<int>(kMaxDecimalDigits);
    if (parts.exponent < -limit || parts.exponent > limit) return false;
    while (true) {
      if (!in->ReadByte(&pair)) return false;
      pair ^= flip;
      if (pair == 0) break;
      if (pair > 100 || parts.digits.size() >= kMaxDecimalDigits) return false;
      parts.digits.push_back(static_cast<char>('0' + (pair - 1) / 10));
      parts.digits.push_back(static_cast<char>('0' + (pair - 1) % 10));
    }
    if (!parts.digits.empty() && parts.digits.back() == '0') parts.digits.pop_back();
  }
  *text = DecimalText(parts);
  // One number has one encoding: what the encoder would not have written is refused.
  std::string again;
  KeyEncoder encoder;
  if (!encoder.AddDecimal(*text).ok()) return false;
  const std::string_view consumed = start.substr(0, start.size() - in->rest().size());
  return std::string_view(encoder.bytes()).substr(1) == consumed;
}

bool ReadElement(ByteReader* in, KeyElement* element) {
  uint8_t type = 0;
  if (!in->ReadByte(&type)) return false;
  element->type = static_cast<KeyType>(type);
  switch (element->type) {
    case KeyType::kNull:
      return true;
    case KeyType::kBool: {
      uint8_t value = 0;
      if (!in->ReadByte(&value) || value > 1) return false;
      element->number = value;
      return true;
    }
    case KeyType::kInt:
    case KeyType::kTime:
    case KeyType::kTimestamp:
      return ReadInteger(in, &element->number);
    case KeyType::kDate:
      return ReadInteger(in, &element->number) && element->number >= INT32_MIN &&
             element->number <= INT32_MAX;
    case KeyType::kDecimal:
      return ReadDecimal(in, &element->text);
    case KeyType::kString:
    case KeyType::kBytes:
      return ReadText(in, &element->text);
  }
  return false;
}

}  // namespace

KeyEncoder& KeyEncoder::AddNull() {
  AppendType(&bytes_, KeyType::kNull);
  return *this;
}

KeyEncoder& KeyEncoder::AddBool(bool value) {
  AppendType(&bytes_, KeyType::kBool);
  bytes_.push_back(value ? 1 : 0);
  return *this;
}

KeyEncoder& KeyEncoder::AddInt(int64_t value) {
  AppendInteger(&bytes_, KeyType::kInt, value);
  return *this;
}

KeyEncoder& KeyEncoder::AddString(std::string_view utf8) {
  AppendText(&bytes_, KeyType::kString, utf8);
  return *this;
}

KeyEncoder& KeyEncoder::AddBytes(std::string_view bytes) {
  AppendText(&bytes_, KeyType::kBytes, bytes);
  return *this;
}

KeyEncoder& KeyEncoder::AddDate(int32_t days) {
  AppendInteger(&bytes_, KeyType::kDate, days);
  return *this;
}

KeyEncoder& KeyEncoder::AddTime(int64_t micros) {
  AppendInteger(&bytes_, KeyType::kTime, micros);
  return *this;
}

KeyEncoder& KeyEncoder::AddTimestamp(int64_t micros) {
  AppendInteger(&bytes_, KeyType::kTimestamp, micros);
  return *this;
}

absl::Status KeyEncoder::AddDecimal(std::string_view text) {
  DecimalParts parts;
  TIDEMARK_RETURN_IF_ERROR(ParseDecimal(text, &parts));
  AppendDecimalParts(&bytes_, parts);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<KeyElement>> DecodeKey(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<KeyElement> elements;
  while (!in.rest().empty()) {
    KeyElement element;
    if (!ReadElement(&in, &element)) {
      return Malformed("element " + std::to_string(elements.size() + 1) + " of " +
                       Printable(bytes) + " does not decode");
    }
    elements.push_back(std::move(element));
  }
  return elements;
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

}  // namespace tidemark::state
