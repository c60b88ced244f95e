// A layer of staged entries against a plain map, in both of its orders.
#include "storage/state/engine/disk/layer.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace tidemark::state::engine {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Keys(const Layer& layer) {
  std::vector<std::string> keys;
  for (const Layer::Entry& entry : layer.entries()) keys.emplace_back(entry.first);
  return keys;
}

std::vector<std::string> OrderedKeys(const Layer& layer) {
  std::vector<std::string> keys;
  for (const Layer::Entry* entry : layer.ordered()) keys.emplace_back(entry->first);
  return keys;
}

TEST(LayerTest, FindsTheLastValueOfAKeyAndKnowsWhatIsDeleted) {
  Layer layer;
  EXPECT_TRUE(layer.empty());
  EXPECT_EQ(layer.Find("a"), nullptr);
  layer.Set("a", "1");
  layer.Set("b", std::nullopt);
  layer.Set("a", "2");
  ASSERT_NE(layer.Find("a"), nullptr);
  EXPECT_EQ(*layer.Find("a"), "2");
  ASSERT_NE(layer.Find("b"), nullptr);
  EXPECT_EQ(*layer.Find("b"), std::nullopt);
  EXPECT_EQ(layer.entries().size(), 2u);
}

TEST(LayerTest, EntriesComeAsTheirKeysCameAndOrderedOnesByKeyThenOn) {
  Layer layer;
  for (const char* key : {"c", "a", "d", "a"}) layer.Set(key, key);
  EXPECT_THAT(Keys(layer), ElementsAre("c", "a", "d"));
  EXPECT_THAT(OrderedKeys(layer), ElementsAre("a", "c", "d"));
  layer.Set("b", "b");
  layer.Set("d", std::nullopt);
  EXPECT_THAT(Keys(layer), ElementsAre("c", "a", "d", "b"));
  EXPECT_THAT(OrderedKeys(layer), ElementsAre("a", "b", "c", "d"));
}

TEST(LayerTest, WhatIsAbsorbedWins) {
  Layer into, from;
  into.Set("a", "old");
  into.Set("b", "old");
  from.Set("b", "new");
  from.Set("c", std::nullopt);
  EXPECT_THAT(OrderedKeys(into), ElementsAre("a", "b"));
  into.Absorb(&from);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(from.bytes(), 0u);
  EXPECT_EQ(*into.Find("a"), "old");
  EXPECT_EQ(*into.Find("b"), "new");
  EXPECT_EQ(*into.Find("c"), std::nullopt);
  EXPECT_THAT(OrderedKeys(into), ElementsAre("a", "b", "c"));
  // Into an empty one, and both are of use afterwards.
  Layer empty;
  empty.Absorb(&into);
  EXPECT_THAT(OrderedKeys(empty), ElementsAre("a", "b", "c"));
  into.Set("z", "1");
  EXPECT_THAT(Keys(into), ElementsAre("z"));
}

TEST(LayerTest, RandomHistoriesAreAsInAMap) {
  std::mt19937_64 random(7);
  Layer layer, open;
  std::map<std::string, std::optional<std::string>> expected;
  for (int step = 0; step < 20000; ++step) {
    // Some keys do not fit a block of the arena.
    const size_t size = random() % 50 == 0 ? 20000 : 10;
    const std::string key = absl::StrCat(random() % 300, "/", std::string(size, 'k'));
    std::optional<std::string> value;
    if (random() % 3 != 0) value = absl::StrCat(step);
    open.Set(key, value);
    expected[key] = value;
    if (random() % 40 == 0) layer.Absorb(&open);
    if (random() % 500 == 0) (void)layer.ordered();
    if (random() % 2000 == 0) {
      layer.Clear();
      open.Clear();
      expected.clear();
      EXPECT_EQ(layer.bytes(), 0u);
      EXPECT_EQ(layer.Find(key), nullptr);
    }
  }
  layer.Absorb(&open);
  auto at = expected.begin();
  ASSERT_EQ(layer.ordered().size(), expected.size());
  size_t bytes = 0;
  for (const Layer::Entry* entry : layer.ordered()) {
    ASSERT_EQ(entry->first, at->first);
    ASSERT_EQ(entry->second, at->second);
    ASSERT_EQ(*layer.Find(at->first), at->second);
    bytes += at->first.size() + at->second.value_or("").size();
    ++at;
  }
  EXPECT_GT(layer.bytes(), bytes);
  EXPECT_LT(layer.bytes(), bytes + 200 * expected.size());
}

}  // namespace
}  // namespace tidemark::state::engine
