// The comparison must see every kind of difference: it is what the main job is judged by.
#include "examples/credit_desk/truth.h"

#include <gtest/gtest.h>

namespace tidemark::examples {
namespace {

const TableRows kTruth = {{"a", {"1", "x"}}, {"b", {"2", ""}}};

uint64_t Differences(const TableRows& answer, std::vector<std::string>* lines, size_t limit = 9) {
  return CompareRows("t", {"n", "s"}, kTruth, answer, limit, lines);
}

TEST(TruthTest, EqualRowsDoNotDiffer) {
  std::vector<std::string> lines;
  EXPECT_EQ(Differences(kTruth, &lines), 0u);
  EXPECT_TRUE(lines.empty());
}

TEST(TruthTest, AWrongColumnAMissingRowAndAnExtraRowAreEachFound) {
  std::vector<std::string> lines;
  EXPECT_EQ(Differences({{"a", {"1", "y"}}, {"c", {"3", ""}}}, &lines), 3u);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "t a: s is \"y\", the ERP says \"x\"");
  EXPECT_EQ(lines[1], "t b: missing");
  EXPECT_EQ(lines[2], "t c: the ERP has no such row");
}

TEST(TruthTest, CountsAllDifferencesButPrintsAFew) {
  std::vector<std::string> lines;
  EXPECT_EQ(Differences({}, &lines, 1), 2u);
  EXPECT_EQ(lines.size(), 1u);
}

}  // namespace
}  // namespace tidemark::examples
