// The errors of reads that ask for a snapshot which is not, or no longer, there.
#ifndef TIDEMARK_SERVER_READ_ERRORS_H_
#define TIDEMARK_SERVER_READ_ERRORS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/read_requirement.h"
#include "storage/state/state_reader.h"

namespace tidemark {

// SHUTTING_DOWN.
absl::Status ShuttingDown();
// UNAUTHENTICATED with `problem` = withdrawn: the call began with a token that does not admit it
// any more.
absl::Status TokenWithdrawn();
// OVERLOADED: `count` calls wait already.
absl::Status TooManyWaits(size_t count);
// STATE_TOO_STALE; `lags` of every source of the call, the stalest first, at least one.
absl::Status TooStale(const std::vector<SourceLag>& lags, absl::Duration limit);
// NOT_YET_APPLIED; `lags` as above, may be empty.
absl::Status SnapshotNotReached(state::SnapshotId wanted, state::SnapshotId current,
                                const std::vector<SourceLag>& lags);
// NOT_YET_APPLIED; `wanted`: the position as users write it; `state`: of the source.
absl::Status PositionNotReached(const std::string& wanted, state::SnapshotId current,
                                const SourceLag& lag, std::string_view state);
// SOURCE_BEHIND.
absl::Status SourceBehind(const SourceLag& lag, std::string_view state);
// Why `token`, in request field `field`, is refused: `status` is what StateReader::ResolveToken
// says. TOKEN_MALFORMED, STORE_MISMATCH with both incarnations.
absl::Status TokenError(const absl::Status& status, const std::string& field,
                        std::string_view token, const state::StateReader& reader);
// SNAPSHOT_IN_FUTURE.
absl::Status SnapshotInFuture(state::SnapshotId wanted, state::SnapshotId latest);
// SNAPSHOT_EXPIRED with the token of the oldest snapshot to read instead; `oldest` names it,
// `problem` begins the message ("Snapshot 17 is no longer kept"), `wanted` is the id asked for when
// it is known.
absl::Status SnapshotExpired(const state::StateReader& reader, state::SnapshotId oldest,
                             std::string_view problem,
                             state::SnapshotId wanted = state::kNoSnapshot);
// The same from the store's own SNAPSHOT_EXPIRED. Other statuses stay as they are.
absl::Status ExplainExpired(const state::StateReader& reader, const absl::Status& status,
                            std::string_view problem);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_READ_ERRORS_H_
