// Data as wire bytes of tidemark.v1.Value, and to and from its message.
#include <cstring>

#include "common/check.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "storage/state/coding.h"
#include "storage/tables/datum.h"
#include "storage/tables/value_text.h"
#include "tidemark/v1/value.pb.h"

namespace tidemark::tables {
namespace {

// Field numbers of Value, Timestamp and ListValue.
enum Field : int {
  kNullField = 1,
  kBoolField = 2,
  kIntField = 3,
  kDoubleField = 4,
  kStringField = 5,
  kBytesField = 6,
  kDecimalField = 7,
  kTimestampField = 8,
  kDateField = 9,
  kTimeField = 10,
  kJsonField = 11,
  kListField = 12,
};
enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };
constexpr uint8_t Tag(int field, WireType type) { return static_cast<uint8_t>(field << 3 | type); }
constexpr uint8_t kSecondsTag = Tag(1, kVarint);
constexpr uint8_t kNanosTag = Tag(2, kVarint);
constexpr uint8_t kItemTag = Tag(1, kBytes);

// Seconds rounded down, and the rest.
void SplitMicros(int64_t micros, int64_t* seconds, int64_t* nanos) {
  *seconds = micros / kMicrosPerSecond;
  int64_t rest = micros % kMicrosPerSecond;
  if (rest < 0) {
    rest += kMicrosPerSecond;
    --*seconds;
  }
  *nanos = rest * 1000;
}

void AppendTimestamp(int64_t micros, std::string& out) {
  int64_t seconds = 0, nanos = 0;
  SplitMicros(micros, &seconds, &nanos);
  const size_t length = out.size();
  out += '\0';
  if (seconds != 0) {
    out += static_cast<char>(kSecondsTag);
    state::AppendVarint(&out, static_cast<uint64_t>(seconds));
  }
  if (nanos != 0) {
    out += static_cast<char>(kNanosTag);
    state::AppendVarint(&out, static_cast<uint64_t>(nanos));
  }
  out[length] = static_cast<char>(out.size() - length - 1);  // at most 17 bytes
}

void AppendText(int field, std::string_view text, std::string& out) {
  out += static_cast<char>(Tag(field, kBytes));
  state::AppendBytes(&out, text);
}

absl::Status Damaged() {
  return MakeError(Reason::kDataDamaged, "A stored value does not decode.");
}

absl::StatusOr<Datum> ParseNested(std::string_view bytes, size_t depth);

absl::StatusOr<Datum> ParseTimestamp(std::string_view bytes) {
  state::ByteReader reader(bytes);
  uint64_t seconds = 0, nanos = 0;
  uint8_t tag = 0;
  if (!reader.done() && static_cast<uint8_t>(bytes[0]) == kSecondsTag) {
    reader.ReadByte(&tag);
    if (!reader.ReadVarint(&seconds)) return Damaged();
  }
  if (!reader.done() && (!reader.ReadByte(&tag) || tag != kNanosTag || !reader.ReadVarint(&nanos) ||
                         nanos >= 1'000'000'000)) {
    return Damaged();
  }
  const auto signed_seconds = static_cast<int64_t>(seconds);
  if (!reader.done() || signed_seconds < kMinTimestamp / kMicrosPerSecond ||
      signed_seconds > kMaxTimestamp / kMicrosPerSecond) {
    return Damaged();
  }
  return Datum::Timestamp(signed_seconds * kMicrosPerSecond + static_cast<int64_t>(nanos / 1000));
}

absl::StatusOr<Datum> ParseList(std::string_view bytes, size_t depth) {
  if (depth >= limits::kMaxValueDepth) return Damaged();
  state::ByteReader reader(bytes);
  std::vector<Datum> items;
  while (!reader.done()) {
    uint8_t tag = 0;
    std::string_view item;
    if (!reader.ReadByte(&tag) || tag != kItemTag || !reader.ReadBytes(&item)) return Damaged();
    TIDEMARK_ASSIGN_OR_RETURN(items.emplace_back(), ParseNested(item, depth + 1));
  }
  return Datum::List(std::move(items));
}

absl::StatusOr<Datum> ParseNested(std::string_view bytes, size_t depth) {
  state::ByteReader reader(bytes);
  uint8_t tag = 0;
  if (!reader.ReadByte(&tag)) return Damaged();
  const int field = tag >> 3;
  if ((tag & 7) == kVarint) {
    uint64_t number = 0;
    if (!reader.ReadVarint(&number) || !reader.done()) return Damaged();
    if (field == kNullField && number == 0) return Datum::Null();
    if (field == kBoolField && number <= 1) return Datum::Bool(number == 1);
    if (field == kIntField) return Datum::Int(static_cast<int64_t>(number));
    return Damaged();
  }
  if ((tag & 7) == kFixed64) {
    std::string_view bytes;
    if (field != kDoubleField || !reader.ReadFixed(8, &bytes) || !reader.done()) return Damaged();
    uint64_t bits = 0;
    for (int i = 7; i >= 0; --i) bits = bits << 8 | static_cast<uint8_t>(bytes[i]);
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return Datum::Double(value);
  }
  std::string_view text;
  if ((tag & 7) != kBytes || !reader.ReadBytes(&text) || !reader.done()) return Damaged();
  switch (field) {
    case kStringField:
      return Datum::String(std::string(text));
    case kBytesField:
      return Datum::Bytes(std::string(text));
    case kDecimalField:
      return Datum::Decimal(std::string(text));
    case kJsonField:
      return Datum::Json(std::string(text));
    case kTimestampField:
      return ParseTimestamp(text);
    case kDateField: {
      const auto days = ParseDate(text);
      if (!days) return Damaged();
      return Datum::Date(*days);
    }
    case kTimeField: {
      const auto micros = ParseTime(text);
      if (!micros) return Damaged();
      return Datum::Time(*micros);
    }
    case kListField:
      return ParseList(text, depth);
    default:
      return Damaged();
  }
}

absl::StatusOr<Datum> FromText(Datum datum, std::string_view field) {
  if (IsUtf8(datum.text())) return datum;
  return FieldInvalid(field, "The text is not UTF-8.");
}

absl::StatusOr<Datum> FromTimestamp(const google::protobuf::Timestamp& time,
                                    std::string_view field) {
  if (time.seconds() < kMinTimestamp / kMicrosPerSecond ||
      time.seconds() > kMaxTimestamp / kMicrosPerSecond || time.nanos() < 0 ||
      time.nanos() >= 1'000'000'000) {
    return FieldInvalid(field, "The timestamp is outside the years 0001 to 9999, or malformed.");
  }
  if (time.nanos() % 1000 != 0) {
    return FieldInvalid(field, "The timestamp is finer than a microsecond.");
  }
  return Datum::Timestamp(time.seconds() * kMicrosPerSecond + time.nanos() / 1000);
}

absl::StatusOr<Datum> FromNested(const v1::Value& value, std::string_view field, size_t depth) {
  switch (value.kind_case()) {
    case v1::Value::kNullValue:
      return Datum::Null();
    case v1::Value::kBoolValue:
      return Datum::Bool(value.bool_value());
    case v1::Value::kIntValue:
      return Datum::Int(value.int_value());
    case v1::Value::kDoubleValue:
      return Datum::Double(value.double_value());
    case v1::Value::kStringValue:
      return FromText(Datum::String(value.string_value()), field);
    case v1::Value::kBytesValue:
      return Datum::Bytes(value.bytes_value());
    case v1::Value::kDecimalValue:
      if (!IsDecimal(value.decimal_value())) {
        return FieldInvalid(field, "A decimal is written [-]digits[.digits], without an exponent.");
      }
      return Datum::Decimal(value.decimal_value());
    case v1::Value::kTimestampValue:
      return FromTimestamp(value.timestamp_value(), field);
    case v1::Value::kDateValue: {
      const auto days = ParseDate(value.date_value());
      if (!days) return FieldInvalid(field, "A date is written YYYY-MM-DD, years 0001 to 9999.");
      return Datum::Date(*days);
    }
    case v1::Value::kTimeValue: {
      const auto micros = ParseTime(value.time_value());
      if (!micros) {
        return FieldInvalid(field, "A time is written HH:MM:SS[.ffffff], up to 24:00:00.");
      }
      return Datum::Time(*micros);
    }
    case v1::Value::kJsonValue:
      return FromText(Datum::Json(value.json_value()), field);
    case v1::Value::kListValue: {
      if (depth >= limits::kMaxValueDepth) {
        return FieldInvalid(field, "Lists are nested deeper than " +
                                       std::to_string(limits::kMaxValueDepth) + " levels.");
      }
      std::vector<Datum> items;
      items.reserve(value.list_value().values_size());
      for (const v1::Value& item : value.list_value().values()) {
        TIDEMARK_ASSIGN_OR_RETURN(items.emplace_back(), FromNested(item, field, depth + 1));
      }
      return Datum::List(std::move(items));
    }
    case v1::Value::KIND_NOT_SET:
      break;
  }
  return FieldInvalid(field, "The value has no kind; null is written as null_value.");
}

}  // namespace

void AppendValue(const Datum& datum, std::string& out) {
  std::string text;
  switch (datum.kind()) {
    case Kind::kUnchanged:
      TIDEMARK_CHECK(!datum.is_unchanged());
      return;
    case Kind::kNull:
      out += static_cast<char>(Tag(kNullField, kVarint));
      out += '\0';
      return;
    case Kind::kBool:
      out += static_cast<char>(Tag(kBoolField, kVarint));
      out += static_cast<char>(datum.number() != 0);
      return;
    case Kind::kInt:
      out += static_cast<char>(Tag(kIntField, kVarint));
      state::AppendVarint(&out, static_cast<uint64_t>(datum.number()));
      return;
    case Kind::kDouble:
      out += static_cast<char>(Tag(kDoubleField, kFixed64));
      for (int shift = 0; shift < 64; shift += 8) {
        out += static_cast<char>(static_cast<uint64_t>(datum.number()) >> shift);
      }
      return;
    case Kind::kString:
      return AppendText(kStringField, datum.text(), out);
    case Kind::kBytes:
      return AppendText(kBytesField, datum.text(), out);
    case Kind::kDecimal:
      return AppendText(kDecimalField, datum.text(), out);
    case Kind::kJson:
      return AppendText(kJsonField, datum.text(), out);
    case Kind::kTimestamp:
      out += static_cast<char>(Tag(kTimestampField, kBytes));
      return AppendTimestamp(datum.number(), out);
    case Kind::kDate:
      AppendDate(static_cast<int32_t>(datum.number()), text);
      return AppendText(kDateField, text, out);
    case Kind::kTime:
      AppendTime(datum.number(), text);
      return AppendText(kTimeField, text, out);
    case Kind::kList:
      for (const Datum& item : datum.items()) {
        std::string bytes;
        AppendValue(item, bytes);
        text += static_cast<char>(kItemTag);
        state::AppendBytes(&text, bytes);
      }
      return AppendText(kListField, text, out);
  }
}

absl::StatusOr<Datum> ParseValue(std::string_view wire) { return ParseNested(wire, 0); }

absl::StatusOr<Datum> FromValue(const v1::Value& value, std::string_view field) {
  return FromNested(value, field, 0);
}

void ToValue(const Datum& datum, v1::Value* value) {
  switch (datum.kind()) {
    case Kind::kUnchanged:
      TIDEMARK_CHECK(!datum.is_unchanged());
      return;
    case Kind::kNull:
      return value->set_null_value(google::protobuf::NULL_VALUE);
    case Kind::kBool:
      return value->set_bool_value(datum.number() != 0);
    case Kind::kInt:
      return value->set_int_value(datum.number());
    case Kind::kDouble:
      return value->set_double_value(datum.real());
    case Kind::kString:
      return value->set_string_value(datum.text());
    case Kind::kBytes:
      return value->set_bytes_value(datum.text());
    case Kind::kDecimal:
      return value->set_decimal_value(datum.text());
    case Kind::kJson:
      return value->set_json_value(datum.text());
    case Kind::kTimestamp: {
      int64_t seconds = 0, nanos = 0;
      SplitMicros(datum.number(), &seconds, &nanos);
      value->mutable_timestamp_value()->set_seconds(seconds);
      value->mutable_timestamp_value()->set_nanos(static_cast<int32_t>(nanos));
      return;
    }
    case Kind::kDate:
      value->clear_date_value();
      return AppendDate(static_cast<int32_t>(datum.number()), *value->mutable_date_value());
    case Kind::kTime:
      value->clear_time_value();
      return AppendTime(datum.number(), *value->mutable_time_value());
    case Kind::kList:
      value->mutable_list_value()->clear_values();
      for (const Datum& item : datum.items()) {
        ToValue(item, value->mutable_list_value()->add_values());
      }
      return;
  }
}

}  // namespace tidemark::tables
