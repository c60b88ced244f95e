#include "storage/state/state_errors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"

namespace tidemark::state {
namespace {

// A first copy takes minutes; asking more often than this tells the caller nothing new.
constexpr absl::Duration kLoadingRetry = absl::Seconds(5);

}  // namespace

absl::Status SnapshotExpired(SnapshotId id, SnapshotId oldest) {
  return MakeError(Reason::kSnapshotExpired,
                   absl::StrCat("Snapshot ", id, " is no longer kept; the oldest is ", oldest,
                                ". Read at latest, or pin what you want to read again with a tag."),
                   {{"snapshot_id", absl::StrCat(id)}, {"oldest", absl::StrCat(oldest)}});
}

absl::Status BeforeOldestSnapshot(std::string_view what, SnapshotId oldest) {
  return MakeError(
      Reason::kSnapshotExpired,
      absl::StrCat("The ", ToAbsl(what), " lies before the oldest snapshot kept, ", oldest, "."),
      {{"oldest", absl::StrCat(oldest)}});
}

absl::Status TableYoungerThanSnapshot(TableId table, SnapshotId id, SnapshotId first) {
  return MakeError(Reason::kSnapshotExpired,
                   absl::StrCat("The table's first snapshot is ", first, "; it holds nothing at ",
                                id, ". Read at ", first, " or later."),
                   {{"snapshot_id", absl::StrCat(id)},
                    {"oldest", absl::StrCat(first)},
                    {"table_id", absl::StrCat(table)}});
}

absl::Status SnapshotInFuture(SnapshotId id, SnapshotId latest) {
  return MakeError(
      Reason::kSnapshotInFuture,
      absl::StrCat("Snapshot ", id, " does not exist yet; the newest is ", latest, "."),
      {{"snapshot_id", absl::StrCat(id)}, {"latest", absl::StrCat(latest)}});
}

absl::Status TableLoading(TableId table) {
  return MakeError(Reason::kTableLoading,
                   "The table's first copy is not complete yet. Try again later.",
                   {{"table_id", absl::StrCat(table)}}, kLoadingRetry);
}

absl::Status NoSuchTable(TableId table) {
  return MakeError(Reason::kTableNotFound, absl::StrCat("There is no table with id ", table, "."),
                   {{"table_id", absl::StrCat(table)}});
}

absl::Status NoSuchSource(std::string_view source) {
  return MakeError(Reason::kSourceNotFound,
                   absl::StrCat("No snapshot knows a source ", Quoted(source), "."),
                   {{"source", Printable(source)}});
}

absl::Status TokenOfAnotherStore() {
  return MakeError(Reason::kStoreMismatch,
                   "The token was issued by another store, or by this one before it was restored "
                   "to an older state. Read at latest to get a token of this store.");
}

absl::Status CheckRowSize(std::string_view key, std::string_view row) {
  const auto too_large = [](std::string_view what, size_t bytes, size_t limit) {
    return MakeError(Reason::kValueTooLarge,
                     absl::StrCat("The ", ToAbsl(what), " has ", bytes,
                                  " bytes; the most that can be stored is ", limit, "."),
                     {{"bytes", absl::StrCat(bytes)}, {"limit", absl::StrCat(limit)}});
  };
  if (key.size() > limits::kMaxKeyBytes) return too_large("key", key.size(), limits::kMaxKeyBytes);
  if (row.size() > limits::kMaxRowBytes) return too_large("row", row.size(), limits::kMaxRowBytes);
  return absl::OkStatus();
}

}  // namespace tidemark::state
