#include "storage/tables/merging/decimal_sum.h"

#include <algorithm>

#include "common/error.h"

namespace tidemark::tables {
namespace {

size_t ScaleOf(std::string_view text) {
  const size_t point = text.find('.');
  return point == std::string_view::npos ? 0 : text.size() - point - 1;
}

// Digits without a point and with `scale` of them behind it; the sign is taken off.
std::string Unscaled(std::string_view text, size_t scale, bool* negative) {
  *negative = !text.empty() && text[0] == '-';
  if (*negative) text.remove_prefix(1);
  std::string digits(text.substr(0, text.find('.')));
  const size_t fraction = ScaleOf(text);
  if (fraction > 0) digits.append(text.substr(text.size() - fraction));
  digits.append(scale - fraction, '0');
  return digits;
}

// -1, 0, 1 of two digit strings of one length.
int CompareDigits(const std::string& a, const std::string& b) {
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// a + sign * b, digit by digit; both of one length, a >= b when sign is -1.
std::string Combine(const std::string& a, const std::string& b, int sign) {
  std::string out(a.size(), '0');
  int carry = 0;
  for (size_t i = a.size(); i-- > 0;) {
    int digit = (a[i] - '0') + sign * (b[i] - '0') + carry;
    carry = digit < 0 ? -1 : digit > 9 ? 1 : 0;
    out[i] = static_cast<char>('0' + digit - 10 * carry);
  }
  return carry > 0 ? "1" + out : out;
}

// The text of unscaled digits.
std::string Scaled(std::string digits, size_t scale, bool negative) {
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size() - scale - 1);
  digits.erase(0, zeros);
  if (digits.find_first_not_of('0') == std::string::npos) negative = false;
  if (scale > 0) digits.insert(digits.size() - scale, ".");
  return negative ? "-" + digits : digits;
}

std::string Negated(std::string_view text) {
  return text[0] == '-' ? std::string(text.substr(1)) : "-" + std::string(text);
}

// `text` with exactly `scale` fraction digits; those cut off are zeros.
std::string WithScale(const std::string& text, size_t scale) {
  const size_t has = ScaleOf(text);
  if (has == scale) return text;
  bool negative = false;
  std::string digits = Unscaled(text, std::max(has, scale), &negative);
  if (has > scale) digits.resize(digits.size() - (has - scale));
  return Scaled(std::move(digits), scale, negative);
}

}  // namespace

std::string AddDecimals(std::string_view a, std::string_view b) {
  const size_t scale = std::max(ScaleOf(a), ScaleOf(b));
  bool a_negative = false, b_negative = false;
  std::string left = Unscaled(a, scale, &a_negative), right = Unscaled(b, scale, &b_negative);
  const size_t length = std::max(left.size(), right.size());
  left.insert(0, length - left.size(), '0');
  right.insert(0, length - right.size(), '0');
  if (a_negative == b_negative) return Scaled(Combine(left, right, 1), scale, a_negative);
  if (CompareDigits(left, right) >= 0) return Scaled(Combine(left, right, -1), scale, a_negative);
  return Scaled(Combine(right, left, -1), scale, b_negative);
}

absl::Status DecimalSum::Add(const Datum& value) {
  if (value.kind() == Kind::kDecimal && ScaleOf(value.text()) > kMaxScale) {
    return MakeError(Reason::kFieldInvalid, "A decimal with more than " +
                                                std::to_string(kMaxScale) +
                                                " fraction digits cannot be summed.");
  }
  ++CountOf(value);
  if (value.kind() == Kind::kDecimal) sum_ = AddDecimals(sum_, value.text());
  return absl::OkStatus();
}

bool DecimalSum::Remove(const Datum& value) {
  uint64_t& count = CountOf(value);
  if (count == 0) return false;
  --count;
  if (value.kind() != Kind::kDecimal) return true;
  if (count == 0) scales_.erase(ScaleOf(value.text()));
  sum_ = AddDecimals(sum_, Negated(value.text()));
  return true;
}

uint64_t& DecimalSum::CountOf(const Datum& value) {
  if (value.kind() == Kind::kDecimal) return scales_[ScaleOf(value.text())];
  return value.text() == "NaN"        ? nans_
         : value.text() == "Infinity" ? infinities_
                                      : minus_infinities_;
}

Datum DecimalSum::Value() const {
  if (nans_ > 0 || (infinities_ > 0 && minus_infinities_ > 0)) return Datum::String("NaN");
  if (infinities_ > 0) return Datum::String("Infinity");
  if (minus_infinities_ > 0) return Datum::String("-Infinity");
  if (scales_.empty()) return Datum::Null();
  return Datum::Decimal(WithScale(sum_, scales_.rbegin()->first));
}

void DecimalSum::AppendTo(std::string& out) const {
  // Without trailing zeros, so that equal contents are equal bytes whatever went through.
  const size_t scale = scales_.empty() ? 0 : scales_.rbegin()->first;
  state::AppendBytes(&out, WithScale(sum_, scale));
  state::AppendVarint(&out, scales_.size());
  for (const auto& [digits, count] : scales_) {
    state::AppendVarint(&out, digits);
    state::AppendVarint(&out, count);
  }
  state::AppendVarint(&out, nans_);
  state::AppendVarint(&out, infinities_);
  state::AppendVarint(&out, minus_infinities_);
}

bool DecimalSum::ReadFrom(state::ByteReader& reader) {
  uint64_t scales = 0;
  if (!reader.ReadString(&sum_) || !reader.ReadVarint(&scales) || scales > kMaxScale + 1) {
    return false;
  }
  for (uint64_t i = 0; i < scales; ++i) {
    uint64_t digits = 0, count = 0;
    if (!reader.ReadVarint(&digits) || !reader.ReadVarint(&count)) return false;
    scales_[digits] = count;
  }
  return reader.ReadVarint(&nans_) && reader.ReadVarint(&infinities_) &&
         reader.ReadVarint(&minus_infinities_);
}

}  // namespace tidemark::tables
