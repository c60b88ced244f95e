// What the postgres source keeps in the state table, in the same batches as the rows: who it
// follows, how far it is, and in which phase each relation is (docs/storage_format_ingest.md).
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_DURABLE_RECORDS_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_DURABLE_RECORDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/ingest/postgres/lsn.h"
#include "server/ingest/source_state.h"

namespace tidemark::ingest {

// The history that positions belong to. Written when a copy is complete, and when the timeline
// moves on.
struct SourceIdentity {
  std::string system_identifier;
  uint32_t timeline = 0;
  std::string database;
  uint32_t database_oid = 0;
  std::string slot;
  std::string publications;  // sorted, separated by commas
  bool operator==(const SourceIdentity&) const = default;
};

// Written with every transaction: kept small.
struct SourcePosition {
  Lsn commit_lsn = 0;         // of the newest transaction applied
  uint64_t event_number = 0;  // of its last event
  // Every transaction with a lower commit position is applied, none with this or a higher one.
  Lsn resume_lsn = 0;
  bool operator==(const SourcePosition&) const = default;
};

// A column that tables use, as it was when the relation was copied.
struct ColumnLayout {
  std::string name;
  int32_t number = 0;  // pg_attribute.attnum: another one is another column, whatever its name
  uint32_t type = 0;
  int32_t modifier = -1;
  bool key = false;  // part of what tells the relation's rows apart
  bool operator==(const ColumnLayout&) const = default;
};

enum class RelationPhase : uint8_t { kCopying = 1, kStreaming = 2 };  // on disk: never renumber

struct RelationRecord {
  RelationPhase phase = RelationPhase::kCopying;
  uint64_t generation = 0;
  Lsn consistent_point = 0;  // of its copy; 0 while copying
  uint32_t oid = 0;
  // By which publications it comes, and since when: differs when it was out of them meanwhile.
  std::string membership;
  std::vector<ColumnLayout> columns;
  bool operator==(const RelationRecord&) const = default;
};

// All of it. What is not there was never written.
struct PostgresRecords {
  std::optional<SourceIdentity> identity;
  std::optional<SourcePosition> position;
  std::map<std::string, RelationRecord> relations;

  // The newest generation any relation has; 0 when none was ever copied.
  uint64_t generation() const;
};

// DATA_DAMAGED for bytes of unknown form.
absl::StatusOr<PostgresRecords> DecodeRecords(const DurableState& state);

// Entries for Work::state.
using StateEntry = std::pair<std::string, std::optional<std::string>>;
StateEntry EncodeIdentity(std::string_view source, const SourceIdentity& identity);
StateEntry EncodePosition(std::string_view source, const SourcePosition& position);
StateEntry EncodeRelation(std::string_view source, const std::string& relation,
                          const RelationRecord& record);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_DURABLE_RECORDS_H_
