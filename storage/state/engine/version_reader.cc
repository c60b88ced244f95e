#include "storage/state/engine/version_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {
namespace {

absl::Status DamagedVersion(const Storage& storage, std::string_view key,
                            std::string_view problem) {
  return DataDamaged(absl::StrCat("key ", Printable(key), " of table ", storage.id.table,
                                  " (storage id ", storage.id.number, "): ", ToAbsl(problem)));
}

absl::Status Take(const Storage& storage, std::string_view key, std::string bytes,
                  FoundVersion* found) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));
  if (!ParseVersion(*shared, storage.from, &found->version)) {
    return DamagedVersion(storage, key, "a version does not decode");
  }
  found->bytes = std::move(shared);
  return absl::OkStatus();
}

}  // namespace

absl::Status VersionReader::Find(const Storage& storage, std::string_view current_key,
                                 std::string_view key, SnapshotId at, FoundVersion* found) {
  std::string current;
  bool known = false;
  TIDEMARK_RETURN_IF_ERROR(publication_.handle().Get(current_key, &current, &known));
  if (!known) {
    found->bytes = nullptr;
    return absl::OkStatus();
  }
  return FindFrom(storage, key, at, std::move(current), found);
}

absl::Status VersionReader::FindFrom(const Storage& storage, std::string_view key, SnapshotId at,
                                     std::string current, FoundVersion* found) {
  TIDEMARK_RETURN_IF_ERROR(Take(storage, key, std::move(current), found));
  found->newest = true;
  const VersionView version = found->version;
  if (version.id <= at) return absl::OkStatus();
  found->newest = false;
  found->bytes = nullptr;
  if (at < version.birth) return absl::OkStatus();
  if (version.prev == kNoSnapshot) {
    return DamagedVersion(storage, key, "a version has older ones but names none");
  }
  if (version.prev <= at) return GetHistory(storage, key, version.prev, found);
  return SeekHistory(storage, key, at, found);
}

absl::Status VersionReader::GetHistory(const Storage& storage, std::string_view key, SnapshotId id,
                                       FoundVersion* found) {
  std::string bytes;
  bool known = false;
  TIDEMARK_RETURN_IF_ERROR(
      publication_.handle().Get(HistoryKey(storage.id, key, id), &bytes, &known));
  if (!known) return DamagedVersion(storage, key, absl::StrCat("version ", id, " is missing"));
  return Take(storage, key, std::move(bytes), found);
}

absl::Status VersionReader::SeekHistory(const Storage& storage, std::string_view key, SnapshotId at,
                                        FoundVersion* found) {
  seeks_->Add();
  if (history_ == nullptr) history_ = publication_.handle().NewIterator(false);
  const std::string prefix = HistoryPrefix(storage.id, key);
  const size_t size = prefix.size() + sizeof(SnapshotId);
  history_->Seek(HistoryKey(storage.id, key, at));
  // Keys that start with ours and are longer may lie between (not when they are tuple keys).
  while (history_->Valid() && history_->key().starts_with(prefix) &&
         history_->key().size() != size) {
    history_->Next();
  }
  TIDEMARK_RETURN_IF_ERROR(IteratorStatus(*history_));
  if (!history_->Valid() || !history_->key().starts_with(prefix)) {
    return DamagedVersion(storage, key, absl::StrCat("no version is kept for snapshot ", at));
  }
  return Take(storage, key, history_->value().ToString(), found);
}

}  // namespace tidemark::state::engine
