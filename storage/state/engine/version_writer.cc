#include "storage/state/engine/version_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark::state::engine {
namespace {

bool IsVisible(const VersionView* version) {
  return version != nullptr && version->kind == RowKind::kPresent;
}

// No reader sees the key at any snapshot.
bool WasNeverVisible(const VersionView* version) {
  return version == nullptr || (version->kind != RowKind::kPresent && version->prev == kNoSnapshot);
}

bool LooksTheSame(const VersionView* before, const VersionWriter::Row& row) {
  if (!IsVisible(before)) return row.kind != RowKind::kPresent;
  return row.kind == RowKind::kPresent && before->row == row.row;
}

ChangeOp OpOf(const VersionView* before, const VersionWriter::Row& row) {
  if (row.kind != RowKind::kPresent) return ChangeOp::kDelete;
  return IsVisible(before) ? ChangeOp::kUpdate : ChangeOp::kInsert;
}

bool IsForgotten(const VersionWriter::Row& row) {
  return row.kind == RowKind::kTombstone && !row.remember;
}

// Putting it again would change nothing that is stored.
bool IsStored(const VersionView& version, const VersionWriter::Row& row) {
  return version.kind == row.kind && version.meta == row.meta &&
         (row.kind == RowKind::kTombstone || version.row == row.row);
}

absl::Status DamagedKey(std::string_view key, std::string_view problem) {
  return DataDamaged(absl::StrCat("key ", Printable(key), ": ", ToAbsl(problem)));
}

}  // namespace

void VersionWriter::BeginSnapshot(SnapshotId id) {
  id_ = id;
  changes_ = 0;
}

absl::StatusOr<bool> VersionWriter::Current(const Storage& storage, std::string_view key,
                                            std::string* bytes, VersionView* version) {
  TIDEMARK_ASSIGN_OR_RETURN(std::optional<std::string> found,
                            staging_.GetCurrent(CurrentKey(storage.id, key)));
  if (!found.has_value()) return false;
  *bytes = *std::move(found);
  if (!ParseVersion(*bytes, storage.from, version)) {
    return DamagedKey(key, "the newest version does not decode");
  }
  return true;
}

absl::Status VersionWriter::Put(const Storage& storage, std::string_view key, const Row& row) {
  const Target target{storage, key, CurrentKey(storage.id, key)};
  std::string bytes;
  VersionView current;
  TIDEMARK_ASSIGN_OR_RETURN(const bool known, Current(storage, key, &bytes, &current));
  if (known && IsStored(current, row) && !(IsForgotten(row) && WasNeverVisible(&current))) {
    return absl::OkStatus();
  }
  if (!known || current.id != id_) {
    const VersionView* before = known ? &current : nullptr;
    if (LooksTheSame(before, row)) {
      PutUnseen(target, row, before);
    } else {
      PutFirstChange(target, row, before, std::move(bytes));
    }
    return absl::OkStatus();
  }
  std::optional<std::string> before_bytes;
  VersionView before_version;
  TIDEMARK_RETURN_IF_ERROR(Before(target, current.prev, &before_bytes, &before_version));
  const VersionView* before = before_bytes.has_value() ? &before_version : nullptr;
  if (LooksTheSame(before, row)) {
    TakeBack(target, row, before);
  } else {
    PutAnotherChange(target, row, before, current);
  }
  return absl::OkStatus();
}

absl::Status VersionWriter::Before(const Target& target, SnapshotId prev,
                                   std::optional<std::string>* bytes, VersionView* version) {
  bytes->reset();
  if (prev == kNoSnapshot) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(*bytes, staging_.Get(HistoryKey(target.storage.id, target.key, prev)));
  if (!bytes->has_value()) {
    return DamagedKey(target.key, absl::StrCat("version ", prev, " is missing"));
  }
  if (!ParseVersion(**bytes, target.storage.from, version)) {
    return DamagedKey(target.key, absl::StrCat("version ", prev, " does not decode"));
  }
  return absl::OkStatus();
}

void VersionWriter::PutFirstChange(const Target& target, const Row& row, const VersionView* before,
                                   std::string before_bytes) {
  ++changes_;
  if (WasNeverVisible(before)) {
    SetCurrent(target, row, id_, kNoSnapshot, id_);
    staging_.Put(ChangeKey(id_, target.storage.id, target.key),
                 ChangeValue(OpOf(before, row), kNoSnapshot));
    return;
  }
  const SnapshotId prev = before->id, birth = before->birth;
  staging_.Put(ChangeKey(id_, target.storage.id, target.key), ChangeValue(OpOf(before, row), prev));
  SetCurrent(target, row, id_, prev, birth);
  staging_.Put(HistoryKey(target.storage.id, target.key, prev), std::move(before_bytes));
}

void VersionWriter::PutAnotherChange(const Target& target, const Row& row,
                                     const VersionView* before, const VersionView& current) {
  if (current.kind == RowKind::kTombstone && row.kind != RowKind::kTombstone) {
    staging_.Delete(QueueRowKey(id_, target.storage.id, target.key));
  }
  SetCurrent(target, row, id_, current.prev, current.birth);
  staging_.Put(ChangeKey(id_, target.storage.id, target.key),
               ChangeValue(OpOf(before, row), current.prev));
}

void VersionWriter::TakeBack(const Target& target, const Row& row, const VersionView* before) {
  TIDEMARK_CHECK(changes_ > 0);
  --changes_;
  staging_.Delete(ChangeKey(id_, target.storage.id, target.key));
  staging_.Delete(QueueRowKey(id_, target.storage.id, target.key));
  if (before == nullptr) {
    staging_.Delete(target.current_key);
  } else {
    staging_.Delete(HistoryKey(target.storage.id, target.key, before->id));
  }
  PutUnseen(target, row, before);
}

void VersionWriter::PutUnseen(const Target& target, const Row& row, const VersionView* before) {
  if (!WasNeverVisible(before)) {
    SetCurrent(target, row, before->id, before->prev, before->birth);
  } else if (!IsForgotten(row)) {
    SetCurrent(target, row, id_ - 1, kNoSnapshot, id_ - 1);
  } else if (before != nullptr) {
    staging_.Delete(target.current_key);
  }
}

absl::Status VersionWriter::PutInPlace(const Storage& storage, std::string_view key,
                                       const Row& row) {
  const Target target{storage, key, CurrentKey(storage.id, key)};
  if (IsForgotten(row)) {
    staging_.Delete(target.current_key);
  } else {
    SetCurrent(target, row, kNoSnapshot, kNoSnapshot, kNoSnapshot);
  }
  return absl::OkStatus();
}

void VersionWriter::Truncate(TableId table) {
  ++changes_;
  staging_.Put(TruncateKey(id_, table), ChangeValue(ChangeOp::kTruncate, kNoSnapshot));
}

void VersionWriter::SetCurrent(const Target& target, const Row& row, SnapshotId id, SnapshotId prev,
                               SnapshotId birth) {
  VersionView version;
  version.kind = row.kind;
  version.id = id;
  version.prev = prev;
  version.birth = birth;
  version.meta = row.meta;
  if (row.kind == RowKind::kTombstone) {
    version.queued = id_;
    staging_.Put(QueueRowKey(id_, target.storage.id, target.key), "");
  } else {
    version.row = row.row;
  }
  std::string value;
  AppendVersion(&value, version);
  staging_.Put(target.current_key, std::move(value));
}

}  // namespace tidemark::state::engine
