#include "storage/tables/merging/event_values.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "storage/state/tuple_key.h"

namespace tidemark::tables {
namespace {

std::string Column(const BoundColumn& column) {
  return "column \"" + std::string(column.name) + "\"";
}

bool IsText(const Datum& datum) {
  if (datum.kind() == Kind::kString || datum.kind() == Kind::kJson) return IsUtf8(datum.text());
  return std::all_of(datum.items().begin(), datum.items().end(), IsText);
}

// Items of a typed list, and of the lists in it.
absl::StatusOr<Datum> CoerceItems(Kind type, const Datum& list) {
  std::vector<Datum> items;
  items.reserve(list.items().size());
  for (const Datum& item : list.items()) {
    TIDEMARK_ASSIGN_OR_RETURN(items.emplace_back(), item.kind() == Kind::kList
                                                        ? CoerceItems(type, item)
                                                        : CoerceTo(type, item));
  }
  return Datum::List(std::move(items));
}

absl::Status Described(const BoundGroup& group, const BoundColumn& column,
                       const absl::Status& status) {
  return EventError(ReasonOf(status), group,
                    Column(column) + ": " + std::string(ToStd(status.message())));
}

absl::Status AppendKeyColumn(const BoundGroup& group, const BoundColumn& column, const Datum& value,
                             state::KeyEncoder& key) {
  if (value.is_unchanged()) {
    return EventError(Reason::kEventMalformed, group,
                      "it does not say the value of " + Column(column) +
                          ", which names the row. Let the source send it (REPLICA IDENTITY).");
  }
  if (value.is_null()) {
    return EventError(Reason::kEventMalformed, group,
                      Column(column) + " is null, but names the row.");
  }
  const absl::Status status = AppendKey(value, key);
  return status.ok() ? status
                     : EventError(Reason::kEventMalformed, group,
                                  Column(column) + ": " + std::string(ToStd(status.message())));
}

}  // namespace

absl::StatusOr<const Datum*> ValueOf(const BoundGroup& group, const BoundColumn& column,
                                     const std::vector<Datum>& image,
                                     const std::vector<Datum>& fallback, Datum* scratch) {
  const Datum* value = &image[column.relation_column];
  if (value->is_unchanged() && !fallback.empty()) value = &fallback[column.relation_column];
  if (value->is_null() || value->is_unchanged()) return value;
  if (!IsText(*value)) {
    return EventError(Reason::kFieldInvalid, group, Column(column) + ": the text is not UTF-8.");
  }
  if (value->kind() != column.type) {
    auto converted = CoerceTo(column.type, *value);
    if (!converted.ok()) return Described(group, column, converted.status());
    *scratch = *std::move(converted);
    return scratch;
  }
  if (column.item_type != Kind::kNull) {
    auto converted = CoerceItems(column.item_type, *value);
    if (!converted.ok()) return Described(group, column, converted.status());
    *scratch = *std::move(converted);
    return scratch;
  }
  return value;
}

absl::StatusOr<std::string> KeyOf(const BoundGroup& group, const std::vector<BoundColumn>& columns,
                                  const std::vector<Datum>& image,
                                  const std::vector<Datum>& fallback) {
  state::KeyEncoder key;
  Datum scratch;
  for (const BoundColumn& column : columns) {
    TIDEMARK_ASSIGN_OR_RETURN(const Datum* value,
                              ValueOf(group, column, image, fallback, &scratch));
    TIDEMARK_RETURN_IF_ERROR(AppendKeyColumn(group, column, *value, key));
  }
  TIDEMARK_RETURN_IF_ERROR(CheckKeySize(group, key.bytes()));
  return key.Release();
}

absl::Status CheckKeySize(const BoundGroup& group, std::string_view key) {
  if (key.size() <= limits::kMaxKeyBytes) return absl::OkStatus();
  return EventError(Reason::kEventMalformed, group,
                    "its key is " + std::to_string(key.size()) +
                        " bytes long when encoded; at most " +
                        std::to_string(limits::kMaxKeyBytes) + " are possible.");
}

absl::StatusOr<std::optional<EventOrder>> OrderOf(const BoundGroup& group, const RowEvent& event,
                                                  const EventOrigin& origin) {
  EventOrder order;
  order.generation = origin.generation;
  if (group.sequence.empty()) {
    order.sequence = event.sequence;
    return std::optional<EventOrder>(std::move(order));
  }
  const std::vector<Datum>& image = event.op == EventOp::kDelete ? event.before : event.after;
  state::KeyEncoder key;
  Datum scratch;
  for (const BoundColumn& column : group.sequence) {
    TIDEMARK_ASSIGN_OR_RETURN(const Datum* value,
                              ValueOf(group, column, image, event.before, &scratch));
    if (value->is_unchanged()) return std::optional<EventOrder>();
    if (value->is_null()) {
      key.AddNull();  // before every other value
    } else {
      TIDEMARK_RETURN_IF_ERROR(AppendKeyColumn(group, column, *value, key));
    }
  }
  TIDEMARK_RETURN_IF_ERROR(CheckKeySize(group, key.bytes()));
  order.sequence = key.Release();
  return std::optional<EventOrder>(std::move(order));
}

bool HasAll(const std::vector<BoundColumn>& columns, const std::vector<Datum>& image) {
  return !image.empty() && std::none_of(columns.begin(), columns.end(), [&](const auto& column) {
    return image[column.relation_column].is_unchanged();
  });
}

}  // namespace tidemark::tables
