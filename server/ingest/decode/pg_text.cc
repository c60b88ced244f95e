// Text forms of scalar types; arrays are in pg_array.cc.
#include "server/ingest/decode/pg_text.h"

#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;

constexpr int64_t kMicrosPerSecond = 1000000;
constexpr int64_t kSecondsPerDay = 86400;
constexpr int kMaxYear = 9999;  // of dates and timestamps that are not text

// Takes text apart from the left; every Take answers whether it found what it looked for.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool TakeEnd(std::string_view end) {
    if (text_.size() < end.size() || text_.substr(text_.size() - end.size()) != end) return false;
    text_.remove_suffix(end.size());
    return true;
  }
  // Between `min` and `max` digits.
  bool TakeDigits(size_t min, size_t max, int* value) {
    size_t digits = 0;
    int number = 0;
    while (digits < text_.size() && digits < max && IsDigit(text_[digits])) {
      number = number * 10 + (text_[digits] - '0');
      ++digits;
    }
    if (digits < min) return false;
    text_.remove_prefix(digits);
    *value = number;
    return true;
  }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

 private:
  std::string_view text_;
};

bool IsLeapYear(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysOfMonth(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[month - 1];
}

// Days from 1970-01-01 to a day of the proleptic Gregorian calendar, year 1 and later.
int32_t DaysSinceEpoch(int year, int month, int day) {
  constexpr int kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  constexpr int32_t kEpoch = 719162;  // days from 0001-01-01 to 1970-01-01
  const int past = year - 1;
  const int32_t leap_day = month > 2 && IsLeapYear(year) ? 1 : 0;
  return past * 365 + past / 4 - past / 100 + past / 400 + kBefore[month - 1] + leap_day + day - 1 -
         kEpoch;
}

// "YYYY-MM-DD". `*year` can have up to seven digits (what PostgreSQL has); `*days` is set when it
// is in range.
bool TakeDate(Scanner& in, int* year, int32_t* days) {
  int month = 0, day = 0;
  if (!in.TakeDigits(4, 7, year) || !in.Take('-') || !in.TakeDigits(2, 2, &month) ||
      !in.Take('-') || !in.TakeDigits(2, 2, &day)) {
    return false;
  }
  if (*year < 1 || month < 1 || month > 12 || day < 1 || day > DaysOfMonth(*year, month)) {
    return false;
  }
  if (*year <= kMaxYear) *days = DaysSinceEpoch(*year, month, day);
  return true;
}

// "HH:MM:SS[.ffffff]".
bool TakeTime(Scanner& in, int64_t* micros) {
  int hour = 0, minute = 0, second = 0;
  if (!in.TakeDigits(2, 2, &hour) || !in.Take(':') || !in.TakeDigits(2, 2, &minute) ||
      !in.Take(':') || !in.TakeDigits(2, 2, &second)) {
    return false;
  }
  int fraction = 0;
  if (in.Take('.')) {
    int digits = 0;
    for (int digit = 0; digits < 6 && in.TakeDigits(1, 1, &digit); ++digits) {
      fraction = fraction * 10 + digit;
    }
    if (digits == 0) return false;
    for (; digits < 6; ++digits) fraction *= 10;
  }
  *micros = ((hour * 60 + minute) * int64_t{60} + second) * kMicrosPerSecond + fraction;
  return minute < 60 && second <= 60 && *micros <= kSecondsPerDay * kMicrosPerSecond;
}

// "+HH[:MM[:SS]]" or with '-', or nothing.
bool TakeZone(Scanner& in, int64_t* offset_seconds) {
  *offset_seconds = 0;
  const bool negative = in.Take('-');
  if (!negative && !in.Take('+')) return true;
  int hour = 0, minute = 0, second = 0;
  if (!in.TakeDigits(2, 2, &hour)) return false;
  if (in.Take(':') && !in.TakeDigits(2, 2, &minute)) return false;
  if (in.Take(':') && !in.TakeDigits(2, 2, &second)) return false;
  *offset_seconds = (hour * 60 + minute) * int64_t{60} + second;
  if (negative) *offset_seconds = -*offset_seconds;
  return minute < 60 && second < 60;
}

bool IsInfinity(std::string_view text) { return text == "infinity" || text == "-infinity"; }

bool ParseDate(std::string_view text, Datum* datum) {
  Scanner in(text);
  const bool before_christ = in.TakeEnd(" BC");
  int year = 0;
  int32_t days = 0;
  const bool plain = TakeDate(in, &year, &days) && in.done();
  if (!plain && !IsInfinity(text)) return false;
  *datum = plain && !before_christ && year <= kMaxYear ? Datum::Date(days)
                                                       : Datum::String(std::string(text));
  return true;
}

bool ParseTimestamp(std::string_view text, Datum* datum) {
  Scanner in(text);
  const bool before_christ = in.TakeEnd(" BC");
  int year = 0;
  int32_t days = 0;
  int64_t micros = 0, offset = 0;
  const bool plain = TakeDate(in, &year, &days) && in.Take(' ') && TakeTime(in, &micros) &&
                     TakeZone(in, &offset) && in.done();
  if (!plain && !IsInfinity(text)) return false;
  if (!plain || before_christ || year > kMaxYear) {
    *datum = Datum::String(std::string(text));
    return true;
  }
  const int64_t since_epoch =
      (days * kSecondsPerDay - offset) * kMicrosPerSecond + micros;
  constexpr int64_t kFirst = int64_t{-719162} * kSecondsPerDay * kMicrosPerSecond;
  constexpr int64_t kEnd = int64_t{2932897} * kSecondsPerDay * kMicrosPerSecond;  // 10000-01-01
  if (since_epoch < kFirst || since_epoch >= kEnd) return false;  // only with a zone that is not UTC
  *datum = Datum::Timestamp(since_epoch);
  return true;
}

bool ParseTime(std::string_view text, Datum* datum) {
  Scanner in(text);
  int64_t micros = 0;
  if (!TakeTime(in, &micros) || !in.done()) return false;
  *datum = Datum::Time(micros);
  return true;
}

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool IsDecimal(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  size_t whole = 0;
  while (whole < text.size() && Scanner::IsDigit(text[whole])) ++whole;
  if (whole == 0) return false;
  if (whole == text.size()) return true;
  size_t end = whole + 1;
  while (end < text.size() && Scanner::IsDigit(text[end])) ++end;
  return text[whole] == '.' && end == text.size() && end > whole + 1;
}

bool ParseNumeric(std::string_view text, Datum* datum) {
  if (IsDecimal(text)) {
    *datum = Datum::Decimal(std::string(text));
    return true;
  }
  if (text != "NaN" && text != "Infinity" && text != "-Infinity") return false;
  *datum = Datum::String(std::string(text));
  return true;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool ParseBytea(std::string_view text, Datum* datum) {
  if (text.substr(0, 2) != "\\x" || text.size() % 2 != 0) return false;
  text.remove_prefix(2);
  std::string bytes(text.size() / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = HexDigit(text[2 * i]), low = HexDigit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  *datum = Datum::Bytes(std::move(bytes));
  return true;
}

// A "char" over 127 is no character of its own, and no UTF-8: written as later servers write it.
bool ParseChar(std::string_view text, Datum* datum) {
  if (text.size() == 1 && static_cast<uint8_t>(text[0]) > 127) {
    const auto byte = static_cast<uint8_t>(text[0]);
    *datum = Datum::String({'\\', static_cast<char>('0' + (byte >> 6)),
                            static_cast<char>('0' + (byte >> 3 & 7)),
                            static_cast<char>('0' + (byte & 7))});
    return true;
  }
  if (!IsUtf8(text)) return false;
  *datum = Datum::String(std::string(text));
  return true;
}

bool ParseScalar(PgForm form, std::string_view text, Datum* datum) {
  switch (form) {
    case PgForm::kText:
      if (!IsUtf8(text)) return false;
      *datum = Datum::String(std::string(text));
      return true;
    case PgForm::kBool:
      if (text != "t" && text != "f") return false;
      *datum = Datum::Bool(text == "t");
      return true;
    case PgForm::kInt: {
      int64_t number = 0;
      if (!ParseNumber(text, &number)) return false;
      *datum = Datum::Int(number);
      return true;
    }
    case PgForm::kDouble: {
      double number = 0;
      if (!ParseNumber(text, &number)) return false;
      *datum = Datum::Double(number);
      return true;
    }
    case PgForm::kNumeric:
      return ParseNumeric(text, datum);
    case PgForm::kChar:
      return ParseChar(text, datum);
    case PgForm::kBytea:
      return ParseBytea(text, datum);
    case PgForm::kDate:
      return ParseDate(text, datum);
    case PgForm::kTime:
      return ParseTime(text, datum);
    case PgForm::kTimestamp:
      return ParseTimestamp(text, datum);
    case PgForm::kJson:
      if (!IsUtf8(text)) return false;
      *datum = Datum::Json(std::string(text));
      return true;
    case PgForm::kArray:
      break;
  }
  return false;
}

}  // namespace

absl::Status NotOfType(const PgType& type, std::string_view text) {
  return MakeError(Reason::kEventMalformed,
                   absl::StrCat("\"", Printable(text, 60), "\" is no value of type ", type.name,
                                " in the text form asked for."),
                   {{"type", type.name}, {"text", Printable(text, 60)}});
}

absl::StatusOr<Datum> ParsePgText(const PgType& type, std::string_view text) {
  return ParsePgTextAt(type, text, 0);
}

absl::StatusOr<Datum> ParsePgTextAt(const PgType& type, std::string_view text, size_t depth) {
  if (type.form == PgForm::kArray) return ParsePgArray(type, text, depth);
  Datum datum;
  if (!ParseScalar(type.form, text, &datum)) return NotOfType(type, text);
  return datum;
}

}  // namespace tidemark::ingest
