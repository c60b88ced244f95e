// Text forms of scalar types; arrays are in pg_array.cc.
#include "server/ingest/decode/pg_text.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/tables/value_text.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;
using tables::Kind;

// "2024-02-03", or what a date column holds as text ("infinity", "0044-03-15 BC").
bool ParseDateText(std::string_view text, Datum* datum) {
  if (const auto days = tables::ParseDate(text)) {
    *datum = Datum::Date(*days);
    return true;
  }
  if (!tables::IsSpecialValue(Kind::kDate, text)) return false;
  *datum = Datum::String(std::string(text));
  return true;
}

bool ParseTimeText(std::string_view text, Datum* datum) {
  const auto micros = tables::ParseTime(text);
  if (!micros.has_value()) return false;
  *datum = Datum::Time(*micros);
  return true;
}

// "2024-02-03 04:05:06.789", with "+00" behind it when the type has a zone (the session's is UTC).
bool ParseTimestampText(std::string_view text, Datum* datum) {
  constexpr size_t kDateSize = 10;
  constexpr std::string_view kUtc = "+00";
  std::string_view time = text.substr(std::min(text.size(), kDateSize));
  if (!time.empty() && time.front() == ' ') {
    time.remove_prefix(1);
    if (time.size() > kUtc.size() && time.substr(time.size() - kUtc.size()) == kUtc) {
      time.remove_suffix(kUtc.size());
    }
    const auto days = tables::ParseDate(text.substr(0, kDateSize));
    const auto micros = tables::ParseTime(time);
    if (days.has_value() && micros.has_value() && *micros < tables::kMicrosPerDay) {
      *datum = Datum::Timestamp(*days * tables::kMicrosPerDay + *micros);
      return true;
    }
  }
  if (!tables::IsSpecialValue(Kind::kTimestamp, text)) return false;
  *datum = Datum::String(std::string(text));
  return true;
}

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool ParseNumeric(std::string_view text, Datum* datum) {
  if (tables::IsDecimal(text)) {
    *datum = Datum::Decimal(std::string(text));
    return true;
  }
  if (!tables::IsSpecialValue(Kind::kDecimal, text)) return false;
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
      return ParseDateText(text, datum);
    case PgForm::kTime:
      return ParseTimeText(text, datum);
    case PgForm::kTimestamp:
      return ParseTimestampText(text, datum);
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
                   absl::StrCat(Quoted(text, 60), " is no value of type ", type.name,
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
