#include "storage/tables/datum.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/error.h"
#include "storage/tables/value_text.h"

namespace tidemark::tables {
namespace {

// Doubles hold every integer up to here.
constexpr int64_t kMaxExactDouble = int64_t{1} << 53;

int Order(int64_t a, int64_t b) { return a < b ? -1 : a > b ? 1 : 0; }

int CompareDoubles(double a, double b) {
  const bool a_is_number = !std::isnan(a), b_is_number = !std::isnan(b);
  if (!a_is_number || !b_is_number) return Order(b_is_number, a_is_number);  // NaN comes last
  return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kUnchanged:
      return "unchanged";
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kDecimal:
      return "decimal";
    case Kind::kTimestamp:
      return "timestamp";
    case Kind::kDate:
      return "date";
    case Kind::kTime:
      return "time";
    case Kind::kJson:
      return "json";
    case Kind::kList:
      return "list";
  }
  return "unknown";
}

Datum Datum::Double(double v) {
  int64_t bits;
  static_assert(sizeof(bits) == sizeof(v));
  std::memcpy(&bits, &v, sizeof(bits));
  return Datum(Kind::kDouble, bits);
}

Datum Datum::List(std::vector<Datum> items) {
  Datum list(Kind::kList, 0);
  list.items_ = std::move(items);
  return list;
}

double Datum::real() const {
  double value;
  std::memcpy(&value, &number_, sizeof(value));
  return value;
}

bool Datum::operator==(const Datum& other) const {
  return kind_ == other.kind_ && number_ == other.number_ && text_ == other.text_ &&
         items_ == other.items_;
}

int CompareData(const Datum& a, const Datum& b) {
  if (a.is_null() || b.is_null()) return Order(!a.is_null(), !b.is_null());
  switch (a.kind()) {
    case Kind::kDouble:
      return CompareDoubles(a.real(), b.real());
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kJson:
      return Order(a.text().compare(b.text()), 0);
    case Kind::kDecimal:
      return CompareDecimals(a.text(), b.text());
    case Kind::kList: {
      const size_t common = std::min(a.items().size(), b.items().size());
      for (size_t i = 0; i < common; ++i) {
        const int order = CompareData(a.items()[i], b.items()[i]);
        if (order != 0) return order;
      }
      return Order(static_cast<int64_t>(a.items().size()), static_cast<int64_t>(b.items().size()));
    }
    default:
      return Order(a.number(), b.number());
  }
}

absl::StatusOr<Datum> CoerceTo(Kind type, Datum datum) {
  const Kind kind = datum.kind();
  if (kind == type || kind == Kind::kNull || kind == Kind::kUnchanged) return datum;
  switch (type) {
    case Kind::kDecimal:
      if (kind == Kind::kInt) return Datum::Decimal(std::to_string(datum.number()));
      break;
    case Kind::kDouble:
      if (kind == Kind::kInt && datum.number() >= -kMaxExactDouble &&
          datum.number() <= kMaxExactDouble) {
        return Datum::Double(static_cast<double>(datum.number()));
      }
      break;
    case Kind::kString:
      if (kind == Kind::kInt) return Datum::String(std::to_string(datum.number()));
      if (kind == Kind::kDecimal || kind == Kind::kJson) return Datum::String(datum.text());
      break;
    default:
      break;
  }
  if (kind == Kind::kString && IsSpecialValue(type, datum.text())) return datum;
  return MakeError(Reason::kFieldInvalid,
                   "A value of type " + std::string(KindName(kind)) +
                       " does not fit a column of type " + std::string(KindName(type)) +
                       "; see docs/types.md for what is converted.",
                   {{"type", std::string(KindName(type))}, {"value", std::string(KindName(kind))}});
}

bool CanCoerce(Kind from, Kind to) {
  if (from == to) return true;
  if (to == Kind::kDecimal) return from == Kind::kInt;
  if (to == Kind::kString) {
    return from == Kind::kInt || from == Kind::kDecimal || from == Kind::kJson;
  }
  return false;
}

bool IsSpecialValue(Kind type, std::string_view text) {
  return ParseSpecial(type, text).has_value();
}

absl::Status AppendKey(const Datum& datum, state::KeyEncoder& key) {
  switch (datum.kind()) {
    case Kind::kBool:
      key.AddBool(datum.number() != 0);
      return absl::OkStatus();
    case Kind::kInt:
      key.AddInt(datum.number());
      return absl::OkStatus();
    case Kind::kString:
      key.AddString(datum.text());
      return absl::OkStatus();
    case Kind::kBytes:
      key.AddBytes(datum.text());
      return absl::OkStatus();
    case Kind::kDecimal:
      return key.AddDecimal(datum.text());
    case Kind::kTimestamp:
      key.AddTimestamp(datum.number());
      return absl::OkStatus();
    case Kind::kDate:
      key.AddDate(static_cast<int32_t>(datum.number()));
      return absl::OkStatus();
    case Kind::kTime:
      key.AddTime(datum.number());
      return absl::OkStatus();
    default:
      return MakeError(
          Reason::kKeyMalformed,
          "A value of type " + std::string(KindName(datum.kind())) + " cannot be part of a key.",
          {{"value", std::string(KindName(datum.kind()))}});
  }
}

Datum FromKeyElement(const state::KeyElement& element) {
  switch (element.type) {
    case state::KeyType::kBool:
      return Datum::Bool(element.number != 0);
    case state::KeyType::kInt:
      return Datum::Int(element.number);
    case state::KeyType::kDecimal:
      return Datum::Decimal(element.text);
    case state::KeyType::kString:
      return Datum::String(element.text);
    case state::KeyType::kBytes:
      return Datum::Bytes(element.text);
    case state::KeyType::kDate:
      return Datum::Date(static_cast<int32_t>(element.number));
    case state::KeyType::kTime:
      return Datum::Time(element.number);
    case state::KeyType::kTimestamp:
      return Datum::Timestamp(element.number);
    case state::KeyType::kNull:
      break;
  }
  return Datum::Null();
}

}  // namespace tidemark::tables
