// Walks over rows and changes.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_CURSORS_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_CURSORS_H_

#include <memory>
#include <string>

#include "storage/state/engine/layout/format.h"
#include "storage/state/engine/publication.h"
#include "storage/state/engine/version_reader.h"
#include "storage/state/state_reader.h"

namespace tidemark::state::engine {

// Rows of one storage id at one snapshot. Every key with a version that can still be read is in
// prefix C, so it walks C and looks older versions up.
class LevelDbRowCursor final : public RowCursor {
 public:
  LevelDbRowCursor(LevelDbPublicationPtr publication, Storage storage, SnapshotId at,
                   const KeyRange& range, StripedCounter* seeks);

  bool Valid() const override { return valid_; }
  void Next() override;
  std::string_view key() const override { return key_; }
  const StoredRow& row() const override { return row_; }
  absl::Status status() const override { return status_; }

 private:
  // Stops at the first row from where the iterator stands that is visible.
  void Settle();

  const LevelDbPublicationPtr publication_;  // before what reads through it
  const Storage storage_;
  const SnapshotId at_;
  const std::string prefix_;  // of the LevelDB keys in range
  const size_t storage_prefix_size_;
  VersionReader reader_;
  std::unique_ptr<leveldb::Iterator> iterator_;
  std::string key_;
  StoredRow row_;
  bool valid_ = false;
  absl::Status status_;
};

class LevelDbChangeCursor final : public ChangeCursor {
 public:
  LevelDbChangeCursor(LevelDbPublicationPtr publication, SnapshotId after);

  bool Valid() const override { return valid_; }
  void Next() override;
  const Change& change() const override { return change_; }
  absl::Status status() const override { return status_; }

 private:
  void Settle();

  const LevelDbPublicationPtr publication_;  // before what reads through it
  std::unique_ptr<leveldb::Iterator> iterator_;
  Change change_;
  bool valid_ = false;
  absl::Status status_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_CURSORS_H_
