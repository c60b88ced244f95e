// What can go wrong with a system of record, in the words an operator gets, and what becomes of the
// source then. The only place that ties PostgreSQL's error codes to states and advice; every text
// is explained in docs/sources_postgres.md.
//
// Inside this folder a failure is an absl::Status whose code says what to do about it:
//   kUnavailable         RETRYING: goes away by itself
//   kFailedPrecondition  FAILED: somebody must do something; tried again all the same
//   kDataLoss            GAP: what the source's server still has does not join what is applied
//   kCancelled           nothing is wrong: asked to stop, pause or start again
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_FAILURE_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_FAILURE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/ingest/source.h"

namespace tidemark::ingest {

absl::Status Retrying(std::string_view detail);
absl::Status Failed(std::string_view detail);
absl::Status Gap(std::string_view detail);
absl::Status Interrupted();

// An error as PostgreSQL reports it.
struct ServerError {
  std::string sqlstate;  // empty: libpq's own, the connection is gone
  std::string message;
  std::string hint;
};
// The failure it means. `doing`: what was being done, as in "while <doing>".
absl::Status FailureOf(const ServerError& error, std::string_view doing);
// The SQLSTATE of such a failure; empty for others.
std::string SqlStateOf(const absl::Status& failure);

// Of libpq's text about a failed connection: the code it carries with verbose errors, the first
// line of its message.
ServerError ParseConnectionError(std::string_view text);

// What a work that was not applied means: rows the tables cannot take fail the source, everything
// else is tried again.
absl::Status FailureOfApply(const absl::Status& status);

SourceState StateOf(const absl::Status& failure);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_FAILURE_H_
