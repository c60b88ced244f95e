#include "server/ingest/event_codec.h"

#include <bit>
#include <utility>

#include "common/check.h"
#include "common/error.h"
#include "common/limits.h"
#include "storage/state/coding.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;
using tables::Kind;
using tables::RowEvent;

// Small negative numbers stay short.
uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

void AppendDatum(const Datum& datum, std::string* out) {
  out->push_back(static_cast<char>(datum.kind()));
  switch (datum.kind()) {
    case Kind::kUnchanged:
    case Kind::kNull:
      return;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kTimestamp:
    case Kind::kDate:
    case Kind::kTime:
      state::AppendVarint(out, ZigZag(datum.number()));
      return;
    case Kind::kDouble:
      state::AppendBigEndian64(out, std::bit_cast<uint64_t>(datum.real()));
      return;
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kDecimal:
    case Kind::kJson:
      state::AppendBytes(out, datum.text());
      return;
    case Kind::kList:
      state::AppendVarint(out, datum.items().size());
      for (const Datum& item : datum.items()) AppendDatum(item, out);
      return;
  }
  TIDEMARK_CHECK(false && "a datum of unknown kind");
}

void AppendRow(const std::vector<Datum>& row, std::string* out) {
  state::AppendVarint(out, row.size());
  for (const Datum& datum : row) AppendDatum(datum, out);
}

bool ReadDatum(state::ByteReader& reader, size_t depth, Datum* datum);

bool ReadList(state::ByteReader& reader, size_t depth, std::vector<Datum>* items) {
  uint64_t size = 0;
  // Every datum takes a byte at least: a damaged length asks for no memory.
  if (!reader.ReadVarint(&size) || size > reader.rest().size()) return false;
  items->resize(size);
  for (Datum& item : *items) {
    if (!ReadDatum(reader, depth, &item)) return false;
  }
  return true;
}

bool ReadNumber(state::ByteReader& reader, int64_t* number) {
  uint64_t zigzag = 0;
  if (!reader.ReadVarint(&zigzag)) return false;
  *number = UnZigZag(zigzag);
  return true;
}

bool ReadDatum(state::ByteReader& reader, size_t depth, Datum* datum) {
  uint8_t kind = 0;
  int64_t number = 0;
  uint64_t bits = 0;
  std::string text;
  std::vector<Datum> items;
  if (!reader.ReadByte(&kind)) return false;
  switch (static_cast<Kind>(kind)) {
    case Kind::kUnchanged:
      *datum = Datum::Unchanged();
      return true;
    case Kind::kNull:
      *datum = Datum::Null();
      return true;
    case Kind::kBool:
      if (!ReadNumber(reader, &number)) return false;
      *datum = Datum::Bool(number != 0);
      return true;
    case Kind::kInt:
      if (!ReadNumber(reader, &number)) return false;
      *datum = Datum::Int(number);
      return true;
    case Kind::kTimestamp:
      if (!ReadNumber(reader, &number)) return false;
      *datum = Datum::Timestamp(number);
      return true;
    case Kind::kDate:
      if (!ReadNumber(reader, &number)) return false;
      *datum = Datum::Date(static_cast<int32_t>(number));
      return true;
    case Kind::kTime:
      if (!ReadNumber(reader, &number)) return false;
      *datum = Datum::Time(number);
      return true;
    case Kind::kDouble:
      if (!reader.ReadBigEndian64(&bits)) return false;
      *datum = Datum::Double(std::bit_cast<double>(bits));
      return true;
    case Kind::kString:
      if (!reader.ReadString(&text)) return false;
      *datum = Datum::String(std::move(text));
      return true;
    case Kind::kBytes:
      if (!reader.ReadString(&text)) return false;
      *datum = Datum::Bytes(std::move(text));
      return true;
    case Kind::kDecimal:
      if (!reader.ReadString(&text)) return false;
      *datum = Datum::Decimal(std::move(text));
      return true;
    case Kind::kJson:
      if (!reader.ReadString(&text)) return false;
      *datum = Datum::Json(std::move(text));
      return true;
    case Kind::kList:
      if (depth == limits::kMaxValueDepth || !ReadList(reader, depth + 1, &items)) return false;
      *datum = Datum::List(std::move(items));
      return true;
  }
  return false;
}

size_t HeapBytes(const std::vector<Datum>& row) {
  size_t bytes = row.capacity() * sizeof(Datum);
  for (const Datum& datum : row) {
    if (datum.text().capacity() > std::string().capacity()) bytes += datum.text().capacity();
    if (datum.kind() == Kind::kList) bytes += HeapBytes(datum.items());
  }
  return bytes;
}

}  // namespace

uint64_t SchemaTable::NumberOf(const std::shared_ptr<const tables::RelationSchema>& schema) {
  const auto [entry, is_new] = numbers_.try_emplace(schema.get(), schemas_.size());
  if (is_new) schemas_.push_back(schema);
  return entry->second;
}

std::shared_ptr<const tables::RelationSchema> SchemaTable::Find(uint64_t number) const {
  return number < schemas_.size() ? schemas_[number] : nullptr;
}

void EncodeEvent(const RowEvent& event, SchemaTable& schemas, std::string* out) {
  out->push_back(static_cast<char>(event.op));
  state::AppendVarint(out, schemas.NumberOf(event.schema));
  AppendRow(event.before, out);
  AppendRow(event.after, out);
  state::AppendBytes(out, event.sequence);
  state::AppendTime(out, event.event_time);
}

absl::Status DecodeEvent(std::string_view bytes, const SchemaTable& schemas, RowEvent* event) {
  state::ByteReader reader(bytes);
  uint8_t op = 0;
  uint64_t schema = 0;
  const bool whole = reader.ReadByte(&op) && reader.ReadVarint(&schema) &&
                     ReadList(reader, 0, &event->before) && ReadList(reader, 0, &event->after) &&
                     reader.ReadString(&event->sequence) && reader.ReadTime(&event->event_time) &&
                     reader.done();
  event->op = static_cast<tables::EventOp>(op);
  event->schema = schemas.Find(schema);
  if (!whole || !event->schema || op < static_cast<uint8_t>(tables::EventOp::kInsert) ||
      op > static_cast<uint8_t>(tables::EventOp::kTruncate)) {
    return MakeError(Reason::kDataDamaged,
                     "A spooled event does not read back as it was written; the source reads its "
                     "transaction again.");
  }
  return absl::OkStatus();
}

size_t MemoryBytes(const RowEvent& event) {
  return sizeof(RowEvent) + HeapBytes(event.before) + HeapBytes(event.after) +
         event.sequence.capacity();
}

}  // namespace tidemark::ingest
