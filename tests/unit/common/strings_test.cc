#include "common/strings.h"

#include "gtest/gtest.h"

namespace tidemark {
namespace {

TEST(StringsTest, TheBridgeKeepsEveryByte) {
  const std::string bytes("a\0b", 3);
  EXPECT_EQ(ToAbsl(bytes).size(), 3u);
  EXPECT_EQ(ToStd(ToAbsl(bytes)), bytes);
  EXPECT_TRUE(ToAbsl({}).empty());
}

TEST(StringsTest, PrintableNeverHasControlBytes) {
  EXPECT_EQ(Printable("order 7"), "order 7");
  EXPECT_EQ(Printable("a\nb\x7f\xff"), "a\\x0ab\\x7f\\xff");
  EXPECT_EQ(Printable("back\\slash"), "back\\x5cslash");
}

TEST(StringsTest, PrintableStopsAtItsLimit) {
  EXPECT_EQ(Printable("abcdef", 6), "abcdef");
  EXPECT_EQ(Printable("abcdef", 3), "abc...");
  EXPECT_EQ(Printable("abc", 0), "...");
}

TEST(StringsTest, HexIsLowerCaseAndKeepsLeadingZeros) {
  EXPECT_EQ(ToHex(""), "");
  EXPECT_EQ(ToHex(std::string("\x00\x0f\xAB", 3)), "000fab");
}

}  // namespace
}  // namespace tidemark
