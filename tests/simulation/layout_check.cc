#include "tests/simulation/layout_check.h"

#include <map>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/strings.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/layout/format.h"
#include "storage/state/engine/layout/records.h"
#include "storage/state/engine/layout/snapshot_record.h"
#include "storage/state/engine/layout/table_set.h"

namespace tidemark::state {
namespace {

using engine::Prefix;

class Checker {
 public:
  explicit Checker(const engine::Database& database) {
    const auto at = database.NewIterator(/*bulk=*/true);
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      stored_[at->key().ToString()] = at->value().ToString();
    }
  }

  std::vector<std::string> Run() {
    if (!ParseState(stored_[engine::MetaKey(engine::kStateName)], &state_)) Fail("M|state");
    if (state_.open != kNoSnapshot) Fail("a transaction is open");
    CheckEach(Prefix::kUndo, [&](auto& key, auto&) { Fail("before-image", key); });
    CheckEach(Prefix::kTable, [&](auto& key, auto& value) {
      engine::TableState table;
      if (!ParseTable(key, value, &table)) Fail("table", key);
      tables_.Set(table);
    });
    CheckEach(Prefix::kCurrent, [&](auto& key, auto& value) { CheckChain(key, value); });
    CheckEach(Prefix::kHistory, [&](auto& key, auto&) {
      if (reached_.count(key) == 0) Fail("version nobody can reach", key);
    });
    CheckEach(Prefix::kChange, [&](auto& key, auto& value) { CheckChange(key, value); });
    if (changes_ != ids_with_change_) Fail("versions and changes do not match");
    CheckSnapshots();
    return std::move(failures_);
  }

 private:
  template <typename Check>
  void CheckEach(Prefix prefix, Check check) {
    const std::string start(1, static_cast<char>(prefix));
    for (auto at = stored_.lower_bound(start); at != stored_.end() && at->first[0] == start[0];
         ++at) {
      check(at->first, at->second);
    }
  }

  void Fail(std::string_view problem, std::string_view key = {}) {
    failures_.push_back(absl::StrCat(ToAbsl(problem), ": ", Printable(key)));
  }

  // From where on a storage id is read; kNoSnapshot when it is loading, dropped or unknown.
  SnapshotId FromOf(engine::StorageId storage) const {
    const engine::TableState* table = tables_.Find(storage.table);
    if (table == nullptr) return kNoSnapshot;
    for (const engine::StorageSpan& span : table->storages) {
      if (span.number == storage.number) return span.from;
    }
    return kNoSnapshot;
  }

  // A current version and those before it, down to the birth of the key.
  void CheckChain(const std::string& db_key, const std::string& value) {
    engine::StorageId storage;
    std::string_view key;
    if (!engine::ParseCurrentKey(db_key, &storage, &key)) return Fail("key of C", db_key);
    const SnapshotId from = FromOf(storage);
    std::string bytes = value;
    SnapshotId above = state_.published + 1;
    while (true) {
      engine::VersionView version;
      if (!engine::ParseVersion(bytes, from, &version)) return Fail("version", db_key);
      if (version.id >= above) Fail("ids do not fall along the chain", db_key);
      if (version.birth > version.id) Fail("born after its id", db_key);
      if ((version.prev == kNoSnapshot) != (version.birth == version.id)) {
        Fail("birth and the end of the chain do not agree", db_key);
      }
      if (version.kind == RowKind::kTombstone &&
          stored_.count(engine::QueueRowKey(version.queued, storage, key)) == 0) {
        Fail("tombstone that waits nowhere", db_key);
      }
      // Versions of a first copy, and those no reader ever saw, are in no changelog.
      const bool unseen = version.prev == kNoSnapshot && version.kind != RowKind::kPresent;
      const bool with_the_contents =
          version.id == from && from != kNoSnapshot && tables_.Find(storage.table)->first() != from;
      if (!unseen && (version.id > from || with_the_contents)) {
        changes_.insert(engine::ChangeKey(version.id, storage, key));
      }
      if (version.prev == kNoSnapshot) return;
      above = version.id;
      const std::string history = engine::HistoryKey(storage, key, version.prev);
      reached_.insert(history);
      const auto before = stored_.find(history);
      if (before == stored_.end()) return Fail("missing version", history);
      bytes = before->second;
    }
  }

  void CheckChange(const std::string& db_key, const std::string& value) {
    engine::ParsedChangeKey key;
    ChangeOp op = ChangeOp::kInsert;
    SnapshotId prev = kNoSnapshot;
    if (!engine::ParseChangeKey(db_key, &key) || !engine::ParseChangeValue(value, &op, &prev)) {
      return Fail("change", db_key);
    }
    if (key.id > state_.published) Fail("change above the published snapshot", db_key);
    if (key.truncate) return;
    ids_with_change_.insert(db_key);
    if (prev != kNoSnapshot &&
        reached_.count(engine::HistoryKey(key.storage, key.key, prev)) == 0) {
      Fail("change whose version before is missing", db_key);
    }
  }

  void CheckSnapshots() {
    SnapshotId next = kFirstSnapshot;
    CheckEach(Prefix::kSnapshot, [&](auto& key, auto& value) {
      engine::SnapshotRecord record;
      if (!engine::ParseSnapshotRecord(key, value, &record)) return Fail("snapshot record", key);
      if (record.first != next) Fail("snapshot records with a gap", key);
      next = record.last() + 1;
    });
    if (next != state_.published + 1) Fail("snapshot records do not end at the published one");
  }

  std::map<std::string, std::string> stored_;
  engine::StoreState state_;
  engine::TableSet tables_;
  std::set<std::string> reached_;
  std::set<std::string> changes_, ids_with_change_;  // keys of L: expected, and there
  std::vector<std::string> failures_;
};

}  // namespace

std::vector<std::string> CheckLayout(leveldb::Env& env, const std::string& dir) {
  std::shared_ptr<engine::Database> database;
  const leveldb::Status status =
      engine::Database::Open({.dir = dir, .block_cache_bytes = 1 << 20, .env = &env}, &database);
  if (!status.ok()) return {status.ToString()};
  return Checker(*database).Run();
}

}  // namespace tidemark::state
