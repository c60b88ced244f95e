// The row cache's rule, part by part.
#include "storage/state/engine/row_cache.h"

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace tidemark::state::engine {
namespace {

using ::testing::Le;

// A value of prefix C with its version.
struct Stored {
  Stored(SnapshotId id, std::string_view row, RowKind kind = RowKind::kPresent) {
    AppendVersion(&value, {.kind = kind, .id = id, .prev = 1, .birth = 1, .meta = "m", .row = row});
    EXPECT_TRUE(ParseVersion(value, 1, &to_cache.version));
    to_cache.value = value;
  }
  Stored(const Stored&) = delete;
  const RowToCache* ptr() const { return &to_cache; }
  std::string value;
  RowToCache to_cache;
};

std::string RowOf(RowCache& cache, std::string_view key, SnapshotId at) {
  const CachedRow row = cache.Find(key, at);
  return row ? absl::StrCat(std::string(row.row), "@", row.id) : "-";
}

TEST(RowCacheTest, ServesReadersWhoseSnapshotIsNotOlderThanTheVersion) {
  RowCache cache(1 << 20, 5);
  cache.Fill("k", Stored(4, "row").to_cache, 5);
  EXPECT_EQ(RowOf(cache, "k", 4), "row@4");
  EXPECT_EQ(RowOf(cache, "k", 9), "row@4");
  EXPECT_EQ(RowOf(cache, "k", 3), "-");
  EXPECT_EQ(RowOf(cache, "l", 9), "-");
  EXPECT_EQ(cache.Find("k", 9).meta, "m");
  EXPECT_EQ(cache.FindNewest("k").value, Stored(4, "row").value);
}

TEST(RowCacheTest, MarksStartAtThePublicationItIsOpenedUnder) {
  RowCache cache(1 << 20, 5);
  cache.Fill("k", Stored(4, "row").to_cache, 4);
  EXPECT_EQ(RowOf(cache, "k", 9), "-");
}

TEST(RowCacheTest, AReaderOfAnOlderPublicationPutsNothingInOnceTheKeyWasWritten) {
  RowCache cache(1 << 20, 5);
  cache.Update("k", nullptr, 6);  // not cached: only the mark is raised
  cache.Fill("k", Stored(4, "old").to_cache, 5);
  EXPECT_EQ(RowOf(cache, "k", 9), "-");
  cache.Fill("k", Stored(6, "new").to_cache, 6);
  EXPECT_EQ(RowOf(cache, "k", 9), "new@6");
}

TEST(RowCacheTest, TheWriterReplacesOrRemovesWhatIsCached) {
  RowCache cache(1 << 20, 5);
  cache.Fill("k", Stored(4, "old").to_cache, 5);
  cache.Update("k", Stored(6, "new").ptr(), 6);
  EXPECT_EQ(RowOf(cache, "k", 6), "new@6");
  EXPECT_EQ(RowOf(cache, "k", 5), "-");
  cache.Update("k", Stored(7, "", RowKind::kTombstone).ptr(), 7);
  EXPECT_EQ(RowOf(cache, "k", 9), "-");
  cache.Fill("k", Stored(8, "again").to_cache, 8);
  cache.Update("k", nullptr, 9);
  EXPECT_EQ(RowOf(cache, "k", 9), "-");
  EXPECT_EQ(cache.rows(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(RowCacheTest, WhatTheWriterWroteIsPutInWhereThereIsRoom) {
  constexpr size_t kCapacity = 64 * 4096;
  RowCache cache(kCapacity, 5);
  cache.Update("k", Stored(6, "new").ptr(), 6);
  EXPECT_EQ(RowOf(cache, "k", 6), "new@6");
  EXPECT_EQ(RowOf(cache, "k", 5), "-");
  cache.Update("gone", Stored(7, "", RowKind::kTombstone).ptr(), 7);
  EXPECT_EQ(RowOf(cache, "gone", 9), "-");
  const std::string row(100, 'r');
  for (int i = 0; i < 20000; ++i) cache.Update(absl::StrCat("k", i), Stored(8, row).ptr(), 8);
  EXPECT_THAT(cache.bytes(), Le(kCapacity));
  EXPECT_GT(cache.rows(), kCapacity / 400);
  // Nothing was pushed out for it.
  EXPECT_EQ(RowOf(cache, "k", 6), "new@6");
}

TEST(RowCacheTest, ClearingDropsEverythingAndRaisesEveryMark) {
  RowCache cache(1 << 20, 5);
  for (int i = 0; i < 200; ++i) cache.Fill(absl::StrCat("k", i), Stored(4, "row").to_cache, 5);
  EXPECT_EQ(cache.rows(), 200u);
  cache.Clear(6);
  EXPECT_EQ(cache.rows(), 0u);
  for (int i = 0; i < 200; ++i) cache.Fill(absl::StrCat("k", i), Stored(4, "row").to_cache, 5);
  EXPECT_EQ(cache.rows(), 0u);
}

TEST(RowCacheTest, WithoutCapacityNothingIsCached) {
  RowCache cache(0, 5);
  cache.Fill("k", Stored(4, "row").to_cache, 5);
  cache.Update("k", Stored(6, "new").ptr(), 6);
  EXPECT_EQ(RowOf(cache, "k", 9), "-");
}

TEST(RowCacheTest, StaysWithinItsCapacityAndKeepsWhatIsAskedFor) {
  constexpr size_t kCapacity = 64 * 4096;
  RowCache cache(kCapacity, 5);
  const std::string row(100, 'r');
  cache.Fill("hot", Stored(4, "hot row").to_cache, 5);
  for (int i = 0; i < 20000; ++i) {
    cache.Fill(absl::StrCat("k", i), Stored(4, row).to_cache, 5);
    EXPECT_EQ(RowOf(cache, "hot", 9), "hot row@4");
    ASSERT_THAT(cache.bytes(), Le(kCapacity));
  }
  EXPECT_GT(cache.rows(), kCapacity / 400);
}

TEST(RowCacheTest, ARowThatWouldPushEverythingOutIsNotCached) {
  RowCache cache(64 * 4096, 5);
  cache.Fill("k", Stored(4, std::string(2000, 'r')).to_cache, 5);
  EXPECT_EQ(cache.rows(), 0u);
}

TEST(RowCacheTest, RowsStayValidAfterTheyLeftTheCache) {
  RowCache cache(1 << 20, 5);
  cache.Fill("k", Stored(4, "row").to_cache, 5);
  const CachedRow row = cache.Find("k", 9);
  cache.Clear(6);
  EXPECT_EQ(row.row, "row");
}

TEST(RowCacheTest, ManyThreadsSeeWholeRowsOnly) {
  RowCache cache(64 * 2048, 0);
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&cache, t] {
      for (uint64_t i = 0; i < 5000; ++i) {
        const std::string key = absl::StrCat("k", (i * 7 + t) % 300);
        const SnapshotId id = 1 + i % 50;
        if (const CachedRow row = cache.Find(key, 1000)) {
          ASSERT_EQ(row.row, absl::StrCat(key, "/", row.id));
        } else {
          cache.Fill(key, Stored(id, absl::StrCat(key, "/", id)).to_cache, 1u << 20);
        }
      }
    });
  }
  for (uint64_t i = 1; i < 3000; ++i) {
    const std::string key = absl::StrCat("k", i % 300);
    const Stored stored(i, absl::StrCat(key, "/", i));
    cache.Update(key, i % 5 == 0 ? nullptr : &stored.to_cache, i);
    if (i % 1000 == 0) cache.Clear(i);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace tidemark::state::engine
