#include "storage/state/engine/layout/format.h"

#include "storage/state/coding.h"

namespace tidemark::state::engine {
namespace {

// Tables are numbered from 1, so a change of "table 0" can stand for TRUNCATE and sorts first.
constexpr TableId kTruncateMarker = 0;

// Where a queued tombstone lies.
constexpr char kRowPlace = static_cast<char>(Prefix::kCurrent);
constexpr char kContributionPlace = static_cast<char>(Prefix::kContribution);

constexpr uint8_t kUndoAbsent = 0;
constexpr uint8_t kUndoPresent = 1;

std::string Start(Prefix prefix, size_t size) {
  std::string key;
  key.reserve(size + 24);
  key.push_back(static_cast<char>(prefix));
  return key;
}

void AppendStorage(std::string* key, StorageId storage) {
  AppendOrdered(key, storage.table);
  AppendOrdered(key, storage.number);
}

bool ReadStorage(ByteReader* in, StorageId* storage) {
  uint64_t table = 0, number = 0;
  if (!in->ReadOrdered(&table) || !in->ReadOrdered(&number)) return false;
  if (table > UINT32_MAX || number > UINT32_MAX) return false;
  *storage = {static_cast<TableId>(table), static_cast<uint32_t>(number)};
  return true;
}

bool ReadPrefix(ByteReader* in, Prefix prefix) {
  uint8_t byte = 0;
  return in->ReadByte(&byte) && byte == static_cast<uint8_t>(prefix);
}

}  // namespace

std::string MetaKey(std::string_view name) {
  std::string result = Start(Prefix::kMeta, name.size());
  result.append(name);
  return result;
}

std::string TableKey(TableId table) {
  std::string key = Start(Prefix::kTable, 0);
  AppendOrdered(&key, table);
  return key;
}

std::string CurrentKey(StorageId storage, std::string_view key) {
  std::string result = Start(Prefix::kCurrent, key.size());
  AppendStorage(&result, storage);
  result.append(key);
  return result;
}

std::string HistoryPrefix(StorageId storage, std::string_view key) {
  std::string result = Start(Prefix::kHistory, key.size());
  AppendStorage(&result, storage);
  result.append(key);
  return result;
}

std::string HistoryKey(StorageId storage, std::string_view key, SnapshotId id) {
  std::string result = HistoryPrefix(storage, key);
  AppendBigEndian64(&result, ~id);
  return result;
}

std::string ChangesFrom(SnapshotId id) {
  std::string key = Start(Prefix::kChange, 0);
  AppendBigEndian64(&key, id);
  return key;
}

std::string ChangeKey(SnapshotId id, StorageId storage, std::string_view key) {
  std::string result = Start(Prefix::kChange, key.size());
  AppendBigEndian64(&result, id);
  AppendStorage(&result, storage);
  result.append(key);
  return result;
}

std::string TruncateKey(SnapshotId id, TableId table) {
  std::string key = ChangesFrom(id);
  AppendOrdered(&key, kTruncateMarker);
  AppendOrdered(&key, table);
  return key;
}

std::string SnapshotKey(SnapshotId last) {
  std::string key = Start(Prefix::kSnapshot, 0);
  AppendBigEndian64(&key, last);
  return key;
}

std::string AuxKey(AuxSpace space, std::string_view key) {
  std::string result = Start(static_cast<Prefix>(space), key.size());
  result.append(key);
  return result;
}

std::string PinnedKey(SnapshotId pin, StorageId storage, std::string_view key, SnapshotId id) {
  std::string result = Start(Prefix::kPinned, key.size());
  AppendBigEndian64(&result, pin);
  AppendStorage(&result, storage);
  result.append(key);
  AppendBigEndian64(&result, id);
  return result;
}

std::string QueueRowKey(SnapshotId id, StorageId storage, std::string_view key) {
  std::string result = Start(Prefix::kQueue, key.size());
  AppendBigEndian64(&result, id);
  result.push_back(kRowPlace);
  AppendStorage(&result, storage);
  result.append(key);
  return result;
}

std::string QueueContributionKey(SnapshotId id, std::string_view key) {
  std::string result = Start(Prefix::kQueue, key.size());
  AppendBigEndian64(&result, id);
  result.push_back(kContributionPlace);
  result.append(key);
  return result;
}

std::string PinKey(SnapshotId snapshot, std::string_view holder) {
  std::string key = Start(Prefix::kPin, holder.size());
  AppendBigEndian64(&key, snapshot);
  key.append(holder);
  return key;
}

std::string TagKey(std::string_view tenant, std::string_view name) {
  std::string key = Start(Prefix::kTag, tenant.size() + name.size());
  key.append(tenant);
  key.push_back('\0');
  key.append(name);
  return key;
}

std::string UndoPrefix(uint64_t chunk) {
  std::string key = Start(Prefix::kUndo, 0);
  AppendBigEndian64(&key, chunk);
  return key;
}

std::string UndoKey(uint64_t chunk, std::string_view db_key) {
  std::string result = UndoPrefix(chunk);
  result.append(db_key);
  return result;
}

bool ParseCurrentKey(std::string_view db_key, StorageId* storage, std::string_view* key) {
  ByteReader in(db_key);
  if (!ReadPrefix(&in, Prefix::kCurrent) || !ReadStorage(&in, storage)) return false;
  *key = in.rest();
  return true;
}

bool ParseChangeKey(std::string_view db_key, ParsedChangeKey* parsed) {
  ByteReader in(db_key);
  if (!ReadPrefix(&in, Prefix::kChange) || !in.ReadBigEndian64(&parsed->id)) return false;
  if (!ReadStorage(&in, &parsed->storage)) return false;
  parsed->truncate = parsed->storage.table == kTruncateMarker;
  if (parsed->truncate) {
    parsed->storage = {parsed->storage.number, 0};
    parsed->key = {};
    return in.done();
  }
  parsed->key = in.rest();
  return true;
}

bool ParseQueueKey(std::string_view db_key, ParsedQueueKey* parsed) {
  ByteReader in(db_key);
  uint8_t place = 0;
  if (!ReadPrefix(&in, Prefix::kQueue) || !in.ReadBigEndian64(&parsed->id)) return false;
  if (!in.ReadByte(&place)) return false;
  parsed->storage = StorageId();
  if (place == kRowPlace) {
    if (!ReadStorage(&in, &parsed->storage)) return false;
  } else if (place != kContributionPlace) {
    return false;
  }
  parsed->key = in.rest();
  return true;
}

void AppendVersion(std::string* out, const VersionView& version) {
  out->reserve(out->size() + version.meta.size() + version.row.size() + 32);
  out->push_back(static_cast<char>(version.kind));
  AppendVarint(out, version.id);
  AppendVarint(out, version.prev);
  AppendVarint(out, version.birth);
  if (version.kind == RowKind::kTombstone) AppendVarint(out, version.queued);
  AppendBytes(out, version.meta);
  out->append(version.row);
}

bool ParseVersion(std::string_view bytes, SnapshotId from, VersionView* version) {
  ByteReader in(bytes);
  uint8_t kind = 0;
  if (!in.ReadByte(&kind) || kind > static_cast<uint8_t>(RowKind::kHidden)) return false;
  version->kind = static_cast<RowKind>(kind);
  version->queued = kNoSnapshot;
  in.ReadVarint(&version->id);
  in.ReadVarint(&version->prev);
  in.ReadVarint(&version->birth);
  if (version->kind == RowKind::kTombstone) in.ReadVarint(&version->queued);
  if (!in.ReadBytes(&version->meta)) return false;
  version->row = in.rest();
  if (version->id == kNoSnapshot) version->id = version->birth = from;
  return true;
}

Version ToVersion(const VersionView& view) {
  Version version;
  version.kind = view.kind;
  version.id = view.id;
  version.prev = view.prev;
  version.birth = view.birth;
  version.meta = std::string(view.meta);
  version.row = std::string(view.row);
  return version;
}

std::string ChangeValue(ChangeOp op, SnapshotId prev) {
  std::string value(1, static_cast<char>(op));
  AppendVarint(&value, prev);
  return value;
}

bool ParseChangeValue(std::string_view bytes, ChangeOp* op, SnapshotId* prev) {
  ByteReader in(bytes);
  uint8_t number = 0;
  if (!in.ReadByte(&number) || !in.ReadVarint(prev) || !in.done()) return false;
  *op = static_cast<ChangeOp>(number);
  return *op >= ChangeOp::kInsert && *op <= ChangeOp::kTruncate;
}

std::string ContributionValue(std::string_view value, SnapshotId queued) {
  std::string result;
  AppendVarint(&result, queued);
  result.append(value);
  return result;
}

bool ParseContributionValue(std::string_view bytes, std::string_view* value, SnapshotId* queued) {
  ByteReader in(bytes);
  if (!in.ReadVarint(queued)) return false;
  *value = in.rest();
  return true;
}

std::string UndoValue(const std::string* before) {
  if (before == nullptr) return std::string(1, static_cast<char>(kUndoAbsent));
  std::string value(1, static_cast<char>(kUndoPresent));
  value.append(*before);
  return value;
}

bool ParseUndoValue(std::string_view bytes, bool* existed, std::string_view* before) {
  ByteReader in(bytes);
  uint8_t mark = 0;
  if (!in.ReadByte(&mark) || mark > kUndoPresent) return false;
  *existed = mark == kUndoPresent;
  *before = in.rest();
  return *existed || before->empty();
}

}  // namespace tidemark::state::engine
