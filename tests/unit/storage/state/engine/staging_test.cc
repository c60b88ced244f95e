// Staged entries over stored ones: random layers against a plain map.
#include "storage/state/engine/staging.h"

#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/fault_env.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state::engine {
namespace {

using testing::IsOk;
using testing::IsOkAndHolds;

class StagingTest : public ::testing::Test {
 protected:
  StagingTest() {
    EXPECT_TRUE(
        Database::Open(
            {.dir = "/d", .block_cache_bytes = 1 << 16, .env = &env_, .create_if_missing = true},
            &database_)
            .ok());
    staging_.emplace(*database_, cache_);
  }

  void Store(const std::string& key, const std::string& value) {
    leveldb::WriteBatch batch;
    batch.Put(key, value);
    EXPECT_TRUE(database_->Write(&batch).ok());
  }
  std::vector<std::string> Visit(const std::string& prefix, const std::string& from, bool reverse,
                                 const std::string& fence = "") {
    std::vector<std::string> seen;
    EXPECT_THAT(staging_->Visit(
                    prefix, from, reverse,
                    [&seen](std::string_view key, std::string_view value) {
                      seen.push_back(std::string(key) + "=" + std::string(value));
                      return true;
                    },
                    fence),
                IsOk());
    return seen;
  }

  testing::FaultEnv env_;
  std::shared_ptr<Database> database_;
  RowCache cache_{1 << 20, 0};
  std::optional<Staging> staging_;
};

// A stored walk at the end of a prefix would step over whatever was deleted behind it.
TEST_F(StagingTest, WhereLevelDbHasNoFenceItIsNotWalked) {
  Store("a1", "stored");
  Store("b1", "stored");
  Store("b9", "fence");
  staging_->Put("a2", "staged");
  staging_->Put("a9", "fence");
  staging_->Delete("b9");
  EXPECT_THAT(Visit("a", "a1", false, "a9"), ::testing::ElementsAre("a2=staged", "a9=fence"));
  EXPECT_THAT(Visit("a", "a8", true, "a9"), ::testing::ElementsAre("a2=staged"));
  // What counts is what LevelDB holds, whatever became of it since.
  EXPECT_THAT(Visit("b", "b0", false, "b9"), ::testing::ElementsAre("b1=stored"));
}

TEST_F(StagingTest, RandomLayersReadLikeOneMap) {
  std::mt19937_64 random(20240607);
  std::map<std::string, std::string> stored, ended, open;  // each with everything below it
  const auto key = [&random] {
    std::string k;
    for (size_t n = random() % 4; n > 0; --n) k.push_back("\x00\x61\x62\xff"[random() % 4]);
    return k;
  };
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 3; ++i) {
      const std::string k = key(), v = absl::StrCat("stored", i);
      if (ended.count(k) + open.count(k) > 0) continue;
      Store(k, v);
      stored[k] = v;
    }
    ended = stored;
    staging_.emplace(*database_, cache_);
    const auto change = [&](std::map<std::string, std::string>* model) {
      for (uint64_t i = random() % 5; i > 0; --i) {
        const std::string k = key();
        if (random() % 3 == 0) {
          staging_->Delete(k);
          model->erase(k);
        } else {
          (*model)[k] = absl::StrCat("staged", i);
          staging_->Put(k, absl::StrCat("staged", i));
        }
      }
    };
    change(&ended);
    staging_->BeginSnapshot();
    change(&ended);
    staging_->EndSnapshot();
    open = ended;
    staging_->BeginSnapshot();
    change(&open);
    const bool abandon = random() % 2 == 0;
    if (abandon) staging_->AbandonSnapshot();
    const std::map<std::string, std::string>& model = abandon ? ended : open;

    for (int i = 0; i < 20; ++i) {
      const std::string k = key();
      const auto at = model.find(k);
      EXPECT_THAT(staging_->Get(k),
                  IsOkAndHolds(at == model.end() ? std::nullopt : std::optional(at->second)));
      const std::string prefix = key(), from = random() % 2 == 0 ? "" : prefix + key();
      for (const bool reverse : {false, true}) {
        std::vector<std::string> want;
        for (const auto& [mk, mv] : model) {
          if (mk.compare(0, prefix.size(), prefix) != 0) continue;
          if (!from.empty() && (reverse ? mk > from : mk < from)) continue;
          want.push_back(mk + "=" + mv);
        }
        if (reverse) std::reverse(want.begin(), want.end());
        ASSERT_EQ(Visit(prefix, from, reverse), want) << round << " " << reverse;
      }
    }
  }
}

TEST_F(StagingTest, BytesFollowWhatIsStaged) {
  EXPECT_EQ(staging_->ended().bytes(), 0u);
  staging_->Put("k", std::string(1000, 'v'));
  const size_t one = staging_->ended().bytes();
  EXPECT_GT(one, 1000u);
  staging_->Put("k", std::string(1000, 'w'));
  EXPECT_EQ(staging_->ended().bytes(), one);
  staging_->Put("k", "");
  EXPECT_LT(staging_->ended().bytes(), one);
  staging_->BeginSnapshot();
  staging_->Put("l", std::string(1000, 'v'));
  EXPECT_EQ(staging_->open().bytes(), one);
  staging_->EndSnapshot();
  EXPECT_EQ(staging_->open().bytes(), 0u);
  EXPECT_GT(staging_->ended().bytes(), one);
  staging_->Seal();
  EXPECT_EQ(staging_->ended().bytes(), 0u);
}

TEST_F(StagingTest, WhatLevelDbSaidIsForgottenWhenItChanges) {
  Store("k", "1");
  EXPECT_THAT(staging_->GetCurrent("k"), IsOkAndHolds(std::optional<std::string>("1")));
  Store("k", "2");
  staging_->Forget(true);
  EXPECT_THAT(staging_->GetCurrent("k"), IsOkAndHolds(std::optional<std::string>("2")));
}

TEST_F(StagingTest, TheRowCacheIsNotAskedWhileChunksAreUnpublished) {
  std::string published;
  AppendVersion(&published, {.kind = RowKind::kPresent, .id = 1, .birth = 1, .row = "published"});
  RowToCache row{published, {}};
  ASSERT_TRUE(ParseVersion(published, 1, &row.version));
  cache_.Fill("Ck", row, 5);
  Store("Ck", "of a chunk");
  EXPECT_THAT(staging_->GetCurrent("Ck"), IsOkAndHolds(std::optional<std::string>(published)));
  staging_->Forget(/*row_cache_is_newest=*/false);
  EXPECT_THAT(staging_->GetCurrent("Ck"), IsOkAndHolds(std::optional<std::string>("of a chunk")));
}

}  // namespace
}  // namespace tidemark::state::engine
