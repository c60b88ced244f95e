#include "storage/state/engine/cursors.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tidemark::state::engine {

LevelDbRowCursor::LevelDbRowCursor(LevelDbPublicationPtr publication, Storage storage,
                                   SnapshotId at, const KeyRange& range, StripedCounter* seeks)
    : publication_(std::move(publication)),
      storage_(storage),
      at_(at),
      prefix_(CurrentKey(storage.id, range.prefix)),
      storage_prefix_size_(CurrentPrefix(storage.id).size()),
      reader_(*publication_, seeks),
      // A scan of a whole table is long and done once; one of a prefix is likely to come again.
      iterator_(publication_->handle().NewIterator(range.prefix.empty())) {
  const std::string after = CurrentKey(storage.id, range.after);
  if (range.after.empty() || after < prefix_) {
    iterator_->Seek(prefix_);
  } else {
    iterator_->Seek(after);
    if (iterator_->Valid() && ToView(iterator_->key()) == after) iterator_->Next();
  }
  Settle();
}

void LevelDbRowCursor::Next() {
  iterator_->Next();
  Settle();
}

void LevelDbRowCursor::Settle() {
  valid_ = false;
  row_.SetAbsent();
  for (; iterator_->Valid(); iterator_->Next()) {
    const std::string_view db_key = ToView(iterator_->key());
    if (db_key.substr(0, prefix_.size()) != prefix_) return;
    key_.assign(db_key.substr(storage_prefix_size_));
    FoundVersion found;
    status_ = reader_.FindFrom(storage_, key_, at_, iterator_->value().ToString(), &found);
    if (!status_.ok()) return;
    if (found.bytes == nullptr || found.version.kind != RowKind::kPresent) continue;
    row_.SetFound(found.version.id, found.version.row, found.version.meta, found.bytes);
    valid_ = true;
    return;
  }
  status_ = IteratorStatus(*iterator_);
}

LevelDbChangeCursor::LevelDbChangeCursor(LevelDbPublicationPtr publication, SnapshotId after)
    : publication_(std::move(publication)), iterator_(publication_->handle().NewIterator(true)) {
  iterator_->Seek(ChangesFrom(after + 1));
  Settle();
}

void LevelDbChangeCursor::Next() {
  iterator_->Next();
  Settle();
}

void LevelDbChangeCursor::Settle() {
  valid_ = false;
  for (; iterator_->Valid(); iterator_->Next()) {
    const std::string_view db_key = ToView(iterator_->key());
    if (db_key.front() != static_cast<char>(Prefix::kChange)) return;
    ParsedChangeKey key;
    if (!ParseChangeKey(db_key, &key) ||
        !ParseChangeValue(ToView(iterator_->value()), &change_.op, &change_.prev)) {
      status_ = DataDamaged(absl::StrCat("the changelog of snapshot ", key.id, " does not decode"));
      return;
    }
    if (key.id > publication_->id()) return;
    // What a truncate of the same snapshot took away never was.
    if (!key.truncate && !publication_->tables().IsReadAt(key.storage, key.id)) continue;
    change_.snapshot = key.id;
    change_.table = key.storage.table;
    change_.key.assign(key.key);
    valid_ = true;
    return;
  }
  status_ = IteratorStatus(*iterator_);
}

}  // namespace tidemark::state::engine
