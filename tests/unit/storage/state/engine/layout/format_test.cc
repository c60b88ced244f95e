// Keys and values in LevelDB: they sort as the reads need, read back as written, and refuse other
// bytes. Some are spelt out: they are on disk and must not move.
#include "storage/state/engine/layout/format.h"

#include <random>

#include "common/strings.h"
#include "gmock/gmock.h"

namespace tidemark::state::engine {
namespace {

using ::testing::ElementsAreArray;
using ::testing::Lt;

constexpr StorageId kStorage{3, 2};

TEST(FormatTest, BytesOnDiskAreThoseOfTheDocument) {
  EXPECT_EQ(ToHex(MetaKey("state")), "4d7374617465");
  EXPECT_EQ(ToHex(TableKey(7)), "5407");
  EXPECT_EQ(ToHex(TableKey(0x1234)), "54f91234");
  EXPECT_EQ(ToHex(CurrentKey(kStorage, "k")), "4303026b");
  EXPECT_EQ(ToHex(HistoryKey(kStorage, "k", 5)), "4803026bfffffffffffffffa");
  EXPECT_EQ(ToHex(ChangeKey(5, kStorage, "k")), "4c000000000000000503026b");
  EXPECT_EQ(ToHex(TruncateKey(5, 3)), "4c00000000000000050003");
  EXPECT_EQ(ToHex(SnapshotKey(5)), "530000000000000005");
  EXPECT_EQ(ToHex(AuxKey(AuxSpace::kWindow, "k")), "456b");
  EXPECT_EQ(ToHex(QueueRowKey(5, kStorage, "k")), "5100000000000000054303026b");
  EXPECT_EQ(ToHex(QueueContributionKey(5, "k")), "5100000000000000054b6b");
  EXPECT_EQ(ToHex(PinnedKey(9, kStorage, "k", 5)), "52000000000000000903026b0000000000000005");
  EXPECT_EQ(ToHex(PinKey(9, "\x01t")), "4e00000000000000090174");
  EXPECT_EQ(ToHex(TagKey("ten", "tag")), "4774656e00746167");
  EXPECT_EQ(ToHex(UndoKey(1, "Ck")), "550000000000000001436b");
  EXPECT_EQ(ToHex(ChangeValue(ChangeOp::kDelete, 300)), "03ac02");
  EXPECT_EQ(ToHex(ContributionValue("v", 0)), "0076");
  EXPECT_EQ(ToHex(UndoValue(nullptr)), "00");
  std::string tombstone;
  AppendVersion(
      &tombstone,
      {.kind = RowKind::kTombstone, .id = 5, .prev = 4, .birth = 2, .queued = 5, .meta = "mm"});
  EXPECT_EQ(ToHex(tombstone), "0105040205026d6d");
}

TEST(FormatTest, NewerVersionsOfAKeySortFirst) {
  EXPECT_THAT(HistoryKey(kStorage, "k", 300), Lt(HistoryKey(kStorage, "k", 299)));
  EXPECT_THAT(HistoryKey(kStorage, "k", 1), Lt(HistoryKey(kStorage, "l", 300)));
}

TEST(FormatTest, ChangesSortBySnapshotTruncateTableAndKey) {
  const std::vector<std::string> sorted = {
      ChangesFrom(5),
      TruncateKey(5, 1),
      TruncateKey(5, 300),
      ChangeKey(5, {1, 1}, "z"),
      ChangeKey(5, {1, 9}, "a"),
      ChangeKey(5, {2, 1}, "a"),
      ChangeKey(5, {300, 1}, ""),
      ChangesFrom(6),
  };
  for (size_t i = 1; i < sorted.size(); ++i) EXPECT_THAT(sorted[i - 1], Lt(sorted[i])) << i;
}

TEST(FormatTest, StorageIdsNeverShareAPrefix) {
  // Otherwise a scan of one would run into another.
  const uint32_t numbers[] = {1, 2, 0xf7, 0xf8, 0xff, 0x100, 0xffff, 0x10000, UINT32_MAX};
  for (const uint32_t a : numbers) {
    for (const uint32_t b : numbers) {
      if (a == b) continue;
      EXPECT_NE(CurrentKey({1, a}, "").substr(0, CurrentKey({1, b}, "").size()),
                CurrentKey({1, b}, ""));
      EXPECT_NE(CurrentKey({a, 1}, "").substr(0, CurrentKey({b, 1}, "").size()),
                CurrentKey({b, 1}, ""));
    }
  }
}

TEST(FormatTest, KeysReadBackAsWritten) {
  for (const StorageId storage : {StorageId{1, 1}, StorageId{400, 70000}}) {
    for (const std::string& key : {std::string(), std::string("\0k", 2), std::string(300, 'x')}) {
      StorageId read;
      std::string_view read_key;
      ASSERT_TRUE(ParseCurrentKey(CurrentKey(storage, key), &read, &read_key));
      const std::string current = CurrentKey(storage, key);
      ASSERT_TRUE(ParseCurrentKey(current, &read, &read_key));
      EXPECT_EQ(read, storage);
      EXPECT_EQ(read_key, key);
      const std::string change = ChangeKey(77, storage, key);
      ParsedChangeKey parsed;
      ASSERT_TRUE(ParseChangeKey(change, &parsed));
      EXPECT_FALSE(parsed.truncate);
      EXPECT_EQ(parsed.id, 77);
      EXPECT_EQ(parsed.storage, storage);
      EXPECT_EQ(parsed.key, key);
      const std::string queued = QueueRowKey(77, storage, key);
      ParsedQueueKey queue;
      ASSERT_TRUE(ParseQueueKey(queued, &queue));
      EXPECT_EQ(queue.id, 77);
      EXPECT_EQ(queue.storage, storage);
      EXPECT_EQ(queue.key, key);
    }
  }
  ParsedChangeKey truncate;
  ASSERT_TRUE(ParseChangeKey(TruncateKey(5, 300), &truncate));
  EXPECT_TRUE(truncate.truncate);
  EXPECT_EQ(truncate.storage.table, 300);
  ParsedQueueKey contribution;
  const std::string queued = QueueContributionKey(5, "k");
  ASSERT_TRUE(ParseQueueKey(queued, &contribution));
  EXPECT_EQ(contribution.storage, StorageId());
  EXPECT_EQ(contribution.key, "k");
}

TEST(FormatTest, VersionsReadBackAsWritten) {
  for (const RowKind kind : {RowKind::kPresent, RowKind::kTombstone, RowKind::kHidden}) {
    VersionView written{.kind = kind, .id = 900, .prev = 800, .birth = 7, .meta = "meta"};
    if (kind == RowKind::kTombstone) {
      written.queued = 901;
    } else {
      written.row = std::string_view("row\0bytes", 9);
    }
    std::string bytes;
    AppendVersion(&bytes, written);
    VersionView read;
    ASSERT_TRUE(ParseVersion(bytes, 3, &read));
    EXPECT_EQ(read.kind, kind);
    EXPECT_EQ(read.id, 900);
    EXPECT_EQ(read.prev, 800);
    EXPECT_EQ(read.birth, 7);
    EXPECT_EQ(read.queued, written.queued);
    EXPECT_EQ(read.meta, "meta");
    EXPECT_EQ(read.row, written.row);
    // The row comes last, in one piece.
    EXPECT_EQ(read.row.data() + read.row.size(), bytes.data() + bytes.size());
  }
}

TEST(FormatTest, RowsOfAFirstCopyAreVersionsOfTheirStorageIdsFirstSnapshot) {
  std::string bytes;
  AppendVersion(&bytes, {.kind = RowKind::kPresent, .row = "r"});
  VersionView read;
  ASSERT_TRUE(ParseVersion(bytes, 17, &read));
  EXPECT_EQ(read.id, 17);
  EXPECT_EQ(read.birth, 17);
  EXPECT_EQ(read.prev, kNoSnapshot);
}

TEST(FormatTest, CutValuesAreRefused) {
  std::string bytes;
  AppendVersion(&bytes, {.kind = RowKind::kTombstone, .id = 900, .prev = 800, .meta = "meta"});
  VersionView version;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseVersion(std::string_view(bytes).substr(0, size), 1, &version)) << size;
  }
  ChangeOp op;
  SnapshotId prev;
  for (const char* value : {"", "\x01", "\x05\x01", "\x01\x01\x01"}) {
    EXPECT_FALSE(ParseChangeValue(value, &op, &prev)) << ToHex(value);
  }
  EXPECT_FALSE(ParseVersion("\x03", 1, &version));
  bool existed = false;
  std::string_view before;
  for (const char* value : {"", "\x02", "\x02x"}) {
    EXPECT_FALSE(ParseUndoValue(value, &existed, &before)) << ToHex(value);
  }
  EXPECT_FALSE(ParseUndoValue(std::string("\0x", 2), &existed, &before));
}

TEST(FormatTest, RandomBytesNeverCrashTheParsers) {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 50000; ++i) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random() % 7 == 0 ? random() : "CLQ\0\1"[random() % 5]);
    StorageId storage;
    std::string_view view;
    ParsedChangeKey change;
    ParsedQueueKey queue;
    VersionView version;
    ParseCurrentKey(bytes, &storage, &view);
    ParseChangeKey(bytes, &change);
    ParseQueueKey(bytes, &queue);
    ParseVersion(bytes, 1, &version);
  }
}

}  // namespace
}  // namespace tidemark::state::engine
