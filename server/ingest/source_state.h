// The durable state of sources: what lies in AuxSpace::kSourceState, key by key
// (docs/storage_format_ingest.md). Keys are the source's name, a zero byte, one kind byte, and the
// rest.
#ifndef TIDEMARK_SERVER_INGEST_SOURCE_STATE_H_
#define TIDEMARK_SERVER_INGEST_SOURCE_STATE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/state/state_writer.h"

namespace tidemark::ingest {

// What a source keeps about one of its partitions: slot, position, phases. The bytes are its own.
// A source without partitions uses the empty one. Written through Work::state.
std::string PartitionKey(std::string_view source, std::string_view partition = {});

// That a table holds a complete copy of a relation. Per table, not per relation: a table created
// later needs a copy of its own. Written by the applier at kCopyEnd, and only by it.
struct CopyMark {
  uint64_t generation = 0;
  std::string position;  // everything up to and including it is in the copy
  bool operator==(const CopyMark&) const = default;
};
std::string CopyMarkKey(std::string_view source, std::string_view relation, state::TableId table);
std::string EncodeCopyMark(const CopyMark& mark);
// DATA_DAMAGED for bytes EncodeCopyMark does not write.
absl::StatusOr<CopyMark> DecodeCopyMark(std::string_view bytes);

// Present while the source's tables are degraded; its value is empty. Written by the applier.
std::string DegradedKey(std::string_view source);

// Everything known of one source, as of the last commit.
struct DurableState {
  std::map<std::string, std::string> partitions;
  std::map<std::pair<std::string, state::TableId>, CopyMark> copied;  // by relation and table
  bool degraded = false;

  bool IsCopied(const std::string& relation, state::TableId table) const {
    return copied.find({relation, table}) != copied.end();
  }
};
// Reads it; on the writer's thread. DATA_DAMAGED for keys or marks of unknown form.
absl::StatusOr<DurableState> ReadDurableState(state::StateWriter& writer, std::string_view source);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_SOURCE_STATE_H_
