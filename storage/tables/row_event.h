// What a source hands over: relations, and changes of their rows.
#ifndef TIDEMARK_STORAGE_TABLES_ROW_EVENT_H_
#define TIDEMARK_STORAGE_TABLES_ROW_EVENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "storage/tables/datum.h"

namespace tidemark::tables {

struct RelationColumn {
  std::string name;
  Kind type = Kind::kString;  // what the decoder makes of it
  // Part of what identifies a row, and sent in every old image: the primary key, or the columns of
  // the replica identity's index. With full old images still the primary key, not every column;
  // none when the relation has no key.
  bool key = false;
  std::string source_type;  // as the source names it ("numeric(12,2)"), for messages
};

// A relation as its source describes it now. Immutable; a change of the source's schema makes a new
// one.
struct RelationSchema {
  std::string source;
  std::string name;  // "public.orders"
  std::vector<RelationColumn> columns;
  bool full_old_images = false;  // updates and deletes carry the whole old row
};

// Numbers are stored in spool files: never renumber.
enum class EventOp : uint8_t { kInsert = 1, kUpdate = 2, kDelete = 3, kTruncate = 4 };

// A change of one row (kTruncate: of all rows). `before` and `after` have one datum per column of
// the schema, or are empty: insert has `after`; update has `after`, and `before` when the source
// sent an old image or the key changed; delete has `before`. Columns that were not sent (unchanged
// TOAST values; what is not key in a key-only old image) are kUnchanged.
struct RowEvent {
  EventOp op = EventOp::kInsert;
  std::shared_ptr<const RelationSchema> schema;
  std::vector<Datum> before;
  std::vector<Datum> after;
  // Order among the events of the relation; compares like memcmp. Rises strictly within a source
  // that is ordered; higher wins.
  std::string sequence;
  absl::Time event_time = absl::InfinitePast();
};

// Where events come from; the same for all events of a source transaction or a copied batch.
struct EventOrigin {
  std::string source;
  std::string position;     // of the source transaction, for ExplainRow
  uint64_t generation = 1;  // of the relation's copy; a higher one wins before any sequence
  bool copy = false;        // a row of a copy: stands for "this is how the row is now"
  // Events of the relation arrive in order and once: a deleted key need not be remembered.
  bool ordered = true;
};

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_ROW_EVENT_H_
