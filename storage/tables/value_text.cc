#include "storage/tables/value_text.h"

#include <algorithm>

#include "absl/time/civil_time.h"

namespace tidemark::tables {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendDigits(int64_t value, int width, std::string& out) {
  char digits[8];
  for (int i = width - 1; i >= 0; --i) {
    digits[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  out.append(digits, width);
}

// Reads a text from its beginning; every method leaves the place alone when it says no.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool Take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeNumber(size_t min_digits, size_t max_digits, int64_t* value) {
    size_t digits = 0;
    int64_t number = 0;
    while (digits < rest_.size() && digits < max_digits && IsDigit(rest_[digits])) {
      number = number * 10 + (rest_[digits++] - '0');
    }
    if (digits < min_digits) return false;
    rest_.remove_prefix(digits);
    *value = number;
    return true;
  }
  // "-MM-DD" after the year: true when it is a day of that year.
  bool TakeMonthAndDay(int64_t year, int32_t* days) {
    int64_t month = 0, day = 0;
    if (!Take('-') || !TakeNumber(2, 2, &month) || !Take('-') || !TakeNumber(2, 2, &day)) {
      return false;
    }
    const absl::CivilDay civil(year, static_cast<int>(month), static_cast<int>(day));
    // An impossible day is moved to a possible one.
    if (civil.year() != year || civil.month() != month || civil.day() != day) return false;
    *days = static_cast<int32_t>(civil - absl::CivilDay(1970, 1, 1));
    return true;
  }
  bool TakeTime(int64_t* micros) {
    int64_t hour = 0, minute = 0, second = 0, fraction = 0;
    if (!TakeNumber(2, 2, &hour) || !Take(':') || !TakeNumber(2, 2, &minute) || !Take(':') ||
        !TakeNumber(2, 2, &second) || minute > 59 || second > 59) {
      return false;
    }
    if (Take('.')) {
      const size_t before = rest_.size();
      if (!TakeNumber(1, 9, &fraction)) return false;
      for (size_t digits = before - rest_.size(); digits < 9; ++digits) fraction *= 10;
      if (fraction % 1000 != 0) return false;  // finer than a microsecond
    }
    *micros = ((hour * 60 + minute) * 60 + second) * kMicrosPerSecond + fraction / 1000;
    return *micros <= kMicrosPerDay;
  }
  // "Z" or (+|-)HH[:MM[:SS]], as microseconds to take off.
  bool TakeZone(int64_t* micros) {
    if (Take('Z')) return true;
    const bool minus = Take('-');
    if (!minus && !Take('+')) return false;
    int64_t hour = 0, minute = 0, second = 0;
    if (!TakeNumber(2, 2, &hour)) return false;
    if (Take(':') && !TakeNumber(2, 2, &minute)) return false;
    if (Take(':') && !TakeNumber(2, 2, &second)) return false;
    *micros = ((hour * 60 + minute) * 60 + second) * kMicrosPerSecond * (minus ? -1 : 1);
    return true;
  }

 private:
  std::string_view rest_;
};

std::optional<SpecialOrder> ParseDistantDay(Kind type, std::string_view text) {
  constexpr std::string_view kBeforeChrist = " BC";
  const bool before_christ = text.size() > kBeforeChrist.size() &&
                             text.substr(text.size() - kBeforeChrist.size()) == kBeforeChrist;
  if (before_christ) text.remove_suffix(kBeforeChrist.size());
  TextReader reader(text);
  int64_t year = 0, micros = 0, zone = 0;
  int32_t days = 0;
  if (!reader.TakeNumber(4, 7, &year) || year == 0) return std::nullopt;
  // There is no year 0: 1 BC comes before year 1.
  if (!reader.TakeMonthAndDay(before_christ ? 1 - year : year, &days)) return std::nullopt;
  if (type == Kind::kTimestamp && (reader.Take('T') || reader.Take(' '))) {
    if (!reader.TakeTime(&micros)) return std::nullopt;
    reader.TakeZone(&zone);
  }
  if (!reader.done()) return std::nullopt;
  // A zone is less than a few days; the time of day stays in [0, 24 h).
  for (micros -= zone; micros < 0; --days) micros += kMicrosPerDay;
  for (; micros >= kMicrosPerDay; ++days) micros -= kMicrosPerDay;
  if (days >= kMinDate && days <= kMaxDate) return std::nullopt;
  SpecialOrder order;
  order.rank = days < kMinDate ? SpecialOrder::Rank::kBefore : SpecialOrder::Rank::kAfter;
  order.days = days;
  order.micros = micros;
  return order;
}

// Sign, integer digits without leading zeros, fraction digits without trailing zeros.
struct DecimalParts {
  explicit DecimalParts(std::string_view text) {
    negative = !text.empty() && text[0] == '-';
    if (negative) text.remove_prefix(1);
    const size_t point = text.find('.');
    whole = text.substr(0, point);
    if (point != std::string_view::npos) fraction = text.substr(point + 1);
    whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
    const size_t last = fraction.find_last_not_of('0');
    fraction = fraction.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (whole.empty() && fraction.empty()) negative = false;
  }
  bool negative = false;
  std::string_view whole, fraction;
};

}  // namespace

void AppendDate(int32_t days, std::string& out) {
  const absl::CivilDay day = absl::CivilDay(1970, 1, 1) + days;
  AppendDigits(day.year(), 4, out);
  out += '-';
  AppendDigits(day.month(), 2, out);
  out += '-';
  AppendDigits(day.day(), 2, out);
}

std::optional<int32_t> ParseDate(std::string_view text) {
  TextReader reader(text);
  int64_t year = 0;
  int32_t days = 0;
  if (!reader.TakeNumber(4, 4, &year) || year == 0 || !reader.TakeMonthAndDay(year, &days) ||
      !reader.done()) {
    return std::nullopt;
  }
  return days;
}

void AppendTime(int64_t micros, std::string& out) {
  const int64_t seconds = micros / kMicrosPerSecond;
  AppendDigits(seconds / 3600, 2, out);
  out += ':';
  AppendDigits(seconds / 60 % 60, 2, out);
  out += ':';
  AppendDigits(seconds % 60, 2, out);
  int64_t fraction = micros % kMicrosPerSecond;
  if (fraction == 0) return;
  int width = 6;
  for (; fraction % 10 == 0; --width) fraction /= 10;
  out += '.';
  AppendDigits(fraction, width, out);
}

std::optional<int64_t> ParseTime(std::string_view text) {
  TextReader reader(text);
  int64_t micros = 0;
  if (!reader.TakeTime(&micros) || !reader.done()) return std::nullopt;
  return micros;
}

std::optional<int64_t> ParseTimestamp(std::string_view text) {
  TextReader reader(text);
  int64_t year = 0, time = 0, zone = 0;
  int32_t days = 0;
  if (!reader.TakeNumber(4, 4, &year) || year == 0 || !reader.TakeMonthAndDay(year, &days) ||
      !(reader.Take('T') || reader.Take(' ')) || !reader.TakeTime(&time)) {
    return std::nullopt;
  }
  reader.TakeZone(&zone);
  const int64_t micros = days * kMicrosPerDay + time - zone;
  if (!reader.done() || micros < kMinTimestamp || micros > kMaxTimestamp) return std::nullopt;
  return micros;
}

bool IsDecimal(std::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (whole.empty() || !std::all_of(whole.begin(), whole.end(), IsDigit)) return false;
  if (point == std::string_view::npos) return true;
  const std::string_view fraction = text.substr(point + 1);
  return !fraction.empty() && std::all_of(fraction.begin(), fraction.end(), IsDigit);
}

int CompareDecimals(std::string_view a, std::string_view b) {
  const DecimalParts left(a), right(b);
  if (left.negative != right.negative) return left.negative ? -1 : 1;
  int order = 0;
  if (left.whole.size() != right.whole.size()) {
    order = left.whole.size() < right.whole.size() ? -1 : 1;
  } else if ((order = left.whole.compare(right.whole)) == 0) {
    order = left.fraction.compare(right.fraction);
  }
  return left.negative ? -order : order;
}

std::optional<SpecialOrder> ParseSpecial(Kind type, std::string_view text) {
  using Rank = SpecialOrder::Rank;
  if (type == Kind::kDecimal) {
    if (text == "NaN") return SpecialOrder{Rank::kNaN};
    if (text == "Infinity") return SpecialOrder{Rank::kInfinity};
    if (text == "-Infinity") return SpecialOrder{Rank::kMinusInfinity};
    return std::nullopt;
  }
  if (type != Kind::kTimestamp && type != Kind::kDate) return std::nullopt;
  if (text == "infinity") return SpecialOrder{Rank::kInfinity};
  if (text == "-infinity") return SpecialOrder{Rank::kMinusInfinity};
  return ParseDistantDay(type, text);
}

}  // namespace tidemark::tables
