// Positions in PostgreSQL's write-ahead log: as numbers, as users read them, and as the bytes that
// stand for them in the state table.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_LSN_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_LSN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tidemark::ingest {

using Lsn = uint64_t;

// "0/16B3748".
std::string FormatLsn(Lsn lsn);
// FIELD_INVALID for other text.
absl::StatusOr<Lsn> ParseLsn(std::string_view text);

// Eight bytes, most significant first: they compare like the numbers.
std::string LsnBytes(Lsn lsn);
// 0 for anything that is not eight bytes.
Lsn LsnOfBytes(std::string_view bytes);

// Order of an event among the events of its source: the commit position of its transaction, then
// its number in it.
std::string EventSequence(Lsn commit_lsn, uint64_t event_number);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_LSN_H_
