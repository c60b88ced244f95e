// The order of values of one column, special values ("infinity", "NaN", BC) among the others:
// for comparing them, and as bytes that memcmp orders the same way.
#ifndef TIDEMARK_STORAGE_TABLES_MERGING_ORDERED_VALUE_H_
#define TIDEMARK_STORAGE_TABLES_MERGING_ORDERED_VALUE_H_

#include <string>

#include "absl/status/status.h"
#include "storage/tables/datum.h"

namespace tidemark::tables {

// Order of two values of a column of type `type`, neither of them null: <0, 0, >0.
int CompareAs(Kind type, const Datum& a, const Datum& b);

// Appends `datum` (not null) of a column of type `type`. Self-delimiting: what is appended after it
// orders only what is equal here. FIELD_INVALID for types without an order and decimals of more
// than 1000 digits. On disk: docs/storage_format_rows.md.
absl::Status AppendOrderedValue(Kind type, const Datum& datum, std::string& out);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_MERGING_ORDERED_VALUE_H_
