// The texts of dates, times and decimals, and of the values a kind cannot hold: "infinity", dates
// before year 1 or after year 9999, "NaN". Those are kept as the source wrote them (kString in a
// column of that type), so that nothing is lost and nothing is guessed; docs/types.md.
#ifndef TIDEMARK_STORAGE_TABLES_VALUE_TEXT_H_
#define TIDEMARK_STORAGE_TABLES_VALUE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/tables/datum.h"

namespace tidemark::tables {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kMicrosPerDay = 86'400 * kMicrosPerSecond;
// 0001-01-01 and 9999-12-31, and the moments they begin and end.
inline constexpr int32_t kMinDate = -719'162;
inline constexpr int32_t kMaxDate = 2'932'896;
inline constexpr int64_t kMinTimestamp = kMinDate * kMicrosPerDay;
inline constexpr int64_t kMaxTimestamp = (kMaxDate + 1) * kMicrosPerDay - 1;

// "YYYY-MM-DD" of a date in [kMinDate, kMaxDate].
void AppendDate(int32_t days, std::string& out);
// Exactly that form, years 0001 to 9999.
std::optional<int32_t> ParseDate(std::string_view text);

// "HH:MM:SS", then "." and up to six digits when there is a fraction. `micros` in [0, 24 h].
void AppendTime(int64_t micros, std::string& out);
// That form with up to nine digits, those past the sixth zero; "24:00:00" is the end of the day.
std::optional<int64_t> ParseTime(std::string_view text);

// "YYYY-MM-DD" ("T" or " ") "HH:MM:SS[.ffffff]" and perhaps a zone ("Z", "+02", "-03:30"; none is
// UTC), within the years 0001 to 9999 in UTC; microseconds since 1970.
std::optional<int64_t> ParseTimestamp(std::string_view text);

// [-]digits[.digits], at least one digit on each side of a point.
bool IsDecimal(std::string_view text);
// <0, 0, >0 by value; both must be decimals.
int CompareDecimals(std::string_view a, std::string_view b);

// Where a special value stands among the values of its type, and among its own kind.
struct SpecialOrder {
  // In order: numbers on disk (ordered contributions), never renumber.
  enum class Rank : uint8_t {
    kMinusInfinity = 0x10,
    kBefore = 0x20,  // before year 1
    kOrdinary = 0x30,
    kAfter = 0x40,  // after year 9999
    kInfinity = 0x50,
    kNaN = 0x60,  // as PostgreSQL sorts it: after everything
  };
  Rank rank = Rank::kOrdinary;
  int32_t days = 0;    // kBefore, kAfter: since 1970-01-01, proleptic Gregorian, UTC
  int64_t micros = 0;  // and of that day
};

// What `text` means in a column of `type`: "NaN", "Infinity", "-Infinity" for decimals; "infinity",
// "-infinity" and "Y-MM-DD[ HH:MM:SS[.ffffff][zone]][ BC]" outside years 1 to 9999 for dates and
// timestamps. Nothing for any other text or type.
std::optional<SpecialOrder> ParseSpecial(Kind type, std::string_view text);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_VALUE_TEXT_H_
