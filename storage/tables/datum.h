// One typed value, cheap to move: what decoders produce, merging compares and rows are encoded
// from. The wire form is tidemark.v1.Value; which source type becomes which kind: docs/types.md.
#ifndef TIDEMARK_STORAGE_TABLES_DATUM_H_
#define TIDEMARK_STORAGE_TABLES_DATUM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/tuple_key.h"

namespace tidemark::v1 {
class Value;
}

namespace tidemark::tables {

// Column types of the definition language ("bool", "int", ...), and kUnchanged and kNull, which a
// column of any type can hold. Numbers are stored in contributions: never renumber.
enum class Kind : uint8_t {
  kUnchanged = 0,  // the source did not send it: keep what is stored
  kNull = 1,
  kBool = 2,
  kInt = 3,
  kDouble = 4,
  kString = 5,
  kBytes = 6,
  kDecimal = 7,    // exact text, [-]digits[.digits], scale as sent
  kTimestamp = 8,  // microseconds since 1970-01-01T00:00:00Z, years 1 to 9999
  kDate = 9,       // days since 1970-01-01, years 1 to 9999
  kTime = 10,      // microseconds since midnight, [0, 24 h]
  kJson = 11,      // text as the source sent it
  kList = 12,
};

// "int", "timestamp", ...; "unchanged" and "null" for those two.
std::string_view KindName(Kind kind);

// Equality is of kind and value (decimals: of text; use CompareData for order). Not thread-safe for
// writing.
class Datum {
 public:
  Datum() = default;  // null
  static Datum Unchanged() { return Datum(Kind::kUnchanged, 0); }
  static Datum Null() { return Datum(); }
  static Datum Bool(bool v) { return Datum(Kind::kBool, v ? 1 : 0); }
  static Datum Int(int64_t v) { return Datum(Kind::kInt, v); }
  static Datum Double(double v);
  static Datum String(std::string v) { return Datum(Kind::kString, std::move(v)); }
  static Datum Bytes(std::string v) { return Datum(Kind::kBytes, std::move(v)); }
  static Datum Decimal(std::string v) { return Datum(Kind::kDecimal, std::move(v)); }
  static Datum Json(std::string v) { return Datum(Kind::kJson, std::move(v)); }
  static Datum Timestamp(int64_t micros) { return Datum(Kind::kTimestamp, micros); }
  static Datum Date(int32_t days) { return Datum(Kind::kDate, days); }
  static Datum Time(int64_t micros) { return Datum(Kind::kTime, micros); }
  static Datum List(std::vector<Datum> items);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_unchanged() const { return kind_ == Kind::kUnchanged; }
  // bool, int, timestamp, date, time; the bits of a double
  int64_t number() const { return number_; }
  double real() const;                               // double
  const std::string& text() const { return text_; }  // string, bytes, decimal, json
  const std::vector<Datum>& items() const { return items_; }

  bool operator==(const Datum& other) const;

 private:
  Datum(Kind kind, int64_t number) : kind_(kind), number_(number) {}
  Datum(Kind kind, std::string text) : kind_(kind), text_(std::move(text)) {}

  Kind kind_ = Kind::kNull;
  int64_t number_ = 0;  // doubles: their bits
  std::string text_;
  std::vector<Datum> items_;
};

// Order of two data of one kind: <0, 0, >0; nulls first; decimals by value; NaN after every other
// double; lists item by item. CompareAs (ordered_value.h) compares special values too.
int CompareData(const Datum& a, const Datum& b);

// Wire bytes of a tidemark.v1.Value, appended. kUnchanged is not encodable (checked).
void AppendValue(const Datum& datum, std::string& out);
// The other way. FIELD_INVALID for unset kinds, malformed decimals, dates, times, timestamps out of
// range, invalid UTF-8, lists nested deeper than limits::kMaxValueDepth; `field` names it.
absl::StatusOr<Datum> FromValue(const v1::Value& value, std::string_view field);
void ToValue(const Datum& datum, v1::Value* value);
// Reads wire bytes of a Value as AppendValue wrote them. DATA_DAMAGED otherwise.
absl::StatusOr<Datum> ParseValue(std::string_view wire);

// `datum` as a column of type `type`: itself when it fits (null, kUnchanged and a kString that
// IsSpecialValue fit), exactly converted where that loses nothing (int -> decimal, json -> string
// ...: docs/types.md). FIELD_INVALID otherwise.
absl::StatusOr<Datum> CoerceTo(Kind type, Datum datum);
// Whether every value a relation's column of type `from` can hold fits a table's column of type
// `to`.
bool CanCoerce(Kind from, Kind to);

// Whether `text` is a value that source types of the column type `type` have but the kind cannot
// hold; a decoder gives it as a kString (docs/types.md):
//   decimal    NaN, Infinity, -Infinity
//   date       infinity, -infinity, a year over 9999 ("10000-01-01") or BC ("0044-03-15 BC")
//   timestamp  the same with a time and perhaps a zone ("0044-03-15 12:00:00+00 BC")
bool IsSpecialValue(Kind type, std::string_view text);

// Appends one key column. KEY_MALFORMED for null, unchanged, double, json and list keys.
absl::Status AppendKey(const Datum& datum, state::KeyEncoder& key);
// The datum of a decoded key element (not null).
Datum FromKeyElement(const state::KeyElement& element);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_DATUM_H_
