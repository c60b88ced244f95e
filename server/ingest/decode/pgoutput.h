// The messages of pgoutput, PostgreSQL's logical replication plugin, protocol version 1: outside
// bytes in, checked views out.
//
// Example:
//   pgoutput::Message message;                      // reused: tuples keep their memory
//   TIDEMARK_RETURN_IF_ERROR(pgoutput::Parse(bytes, &message));
//   if (const auto* change = std::get_if<pgoutput::RowChange>(&message)) ...
#ifndef TIDEMARK_SERVER_INGEST_DECODE_PGOUTPUT_H_
#define TIDEMARK_SERVER_INGEST_DECODE_PGOUTPUT_H_

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::ingest::pgoutput {

// A place in the source's write-ahead log.
using Lsn = uint64_t;

// A transaction begins; its changes follow, then Commit. Transactions come whole, in the order of
// their commit positions.
struct Begin {
  Lsn commit_lsn = 0;  // where its commit record starts
  absl::Time commit_time;
  uint32_t xid = 0;
};

struct Commit {
  Lsn commit_lsn = 0;
  Lsn end_lsn = 0;  // just behind the commit record: everything before it has been sent
  absl::Time commit_time;
};

// The transaction came to this server by replication from elsewhere.
struct Origin {
  Lsn commit_lsn = 0;  // at the origin
  std::string_view name;
};

struct RelationColumn {
  bool key = false;  // part of the replica identity
  std::string_view name;
  uint32_t type = 0;      // pg_type.oid
  int32_t modifier = -1;  // pg_attribute.atttypmod
};

enum class ReplicaIdentity : char { kDefault = 'd', kNothing = 'n', kFull = 'f', kIndex = 'i' };

// A relation as it is from here on; comes before its first change in a session and after every
// change of its definition.
struct Relation {
  uint32_t id = 0;  // pg_class.oid
  std::string_view schema;
  std::string_view name;
  ReplicaIdentity identity = ReplicaIdentity::kDefault;
  std::vector<RelationColumn> columns;
};

// A type that is not built in, used by the relation that follows. For a domain, schema and name
// are those of its base type.
struct Type {
  uint32_t id = 0;
  std::string_view schema;
  std::string_view name;
};

enum class FieldKind : char {
  kNull = 'n',
  kUnchanged = 'u',  // a TOASTed value that the change did not touch: not sent
  kText = 't',
  kBinary = 'b',  // only when asked for, which we never do
};
struct Field {
  FieldKind kind = FieldKind::kNull;
  std::string_view bytes;
};

enum class RowOp : char { kInsert = 'I', kUpdate = 'U', kDelete = 'D' };
enum class OldImage : char {
  kNone = 'N',
  kKey = 'K',   // only columns of the replica identity, the others null
  kFull = 'O',  // the whole row (REPLICA IDENTITY FULL)
};

struct RowChange {
  RowOp op = RowOp::kInsert;
  uint32_t relation = 0;
  OldImage old_image = OldImage::kNone;
  std::vector<Field> before;  // empty when old_image is kNone
  std::vector<Field> after;   // empty for a delete
};

struct Truncate {
  bool cascade = false;
  bool restart_identity = false;
  std::vector<uint32_t> relations;
};

// Written by pg_logical_emit_message.
struct LogicalMessage {
  bool transactional = false;  // else it may stand outside of a transaction
  Lsn lsn = 0;
  std::string_view prefix;
  std::string_view content;
};

using Message =
    std::variant<Begin, Commit, Origin, Relation, Type, RowChange, Truncate, LogicalMessage>;

// Parses one message. Its views point into `bytes`. EVENT_MALFORMED, with the message's type and
// the offset of the trouble, for anything that is not exactly one message of protocol 1; never
// reads past `bytes`, never allocates more than a small multiple of their size. After an error
// `*message` holds anything.
absl::Status Parse(std::string_view bytes, Message* message);

}  // namespace tidemark::ingest::pgoutput

#endif  // TIDEMARK_SERVER_INGEST_DECODE_PGOUTPUT_H_
