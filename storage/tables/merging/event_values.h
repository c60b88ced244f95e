// The values of one event as a group needs them: converted, checked, missing ones told apart.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_EVENT_VALUES_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_EVENT_VALUES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/tables/merging/bound_relation.h"
#include "storage/tables/merging/contribution.h"
#include "storage/tables/row_event.h"

namespace tidemark::tables {

// The value of a column, converted to its bound type: a pointer into an image, or to `*scratch`
// where it had to be converted. What `image` was not sent is taken from `fallback` (the old image,
// or empty); kUnchanged when neither has it. FIELD_INVALID for values that do not fit and text that
// is not UTF-8.
absl::StatusOr<const Datum*> ValueOf(const BoundGroup& group, const BoundColumn& column,
                                     const std::vector<Datum>& image,
                                     const std::vector<Datum>& fallback, Datum* scratch);

// The encoded key that `columns` of an image are, as ValueOf gives them. EVENT_MALFORMED for values
// nobody sent, and for keys no row can have (null, too large).
absl::StatusOr<std::string> KeyOf(const BoundGroup& group, const std::vector<BoundColumn>& columns,
                                  const std::vector<Datum>& image,
                                  const std::vector<Datum>& fallback);
// EVENT_MALFORMED when an encoded key is too large.
absl::Status CheckKeySize(const BoundGroup& group, std::string_view key);

// The event's place in the order of its row's events: the source's sequence, or that of the
// declared columns, of the new row or of the deleted one. nullopt: they were not sent, so the event
// counts as the newest.
absl::StatusOr<std::optional<EventOrder>> OrderOf(const BoundGroup& group, const RowEvent& event,
                                                  const EventOrigin& origin);

// Whether an old image says which row it is about.
bool HasAll(const std::vector<BoundColumn>& columns, const std::vector<Datum>& image);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_EVENT_VALUES_H_
