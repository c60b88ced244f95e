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

TEST(StringsTest, QuotedTextCannotEndItsQuotes) {
  EXPECT_EQ(Quoted("orders"), "\"orders\"");
  EXPECT_EQ(Quoted("a\"b\\\"c\n"), "\"a\\\"b\\x5c\\\"c\\x0a\"");
  EXPECT_EQ(Quoted("abcdef", 3), "\"abc...\"");
  EXPECT_EQ(Quoted(""), "\"\"");
}

TEST(StringsTest, ValidUtf8KeepsCharactersAndReplacesEveryOtherByte) {
  EXPECT_EQ(ValidUtf8("plain"), "plain");
  EXPECT_EQ(ValidUtf8("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\x8A"),
            "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\x8A");
  EXPECT_EQ(ValidUtf8("a\xFF"
                      "b\xC3"),
            "a?b?");
  EXPECT_EQ(ValidUtf8("\xC0\x80"), "??");            // overlong
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80"), "????");  // past U+10FFFF
  EXPECT_EQ(ValidUtf8(std::string_view("a\0b", 3)).size(), 3u);
}

TEST(StringsTest, ValidUtf8CutsAtACharacter) {
  EXPECT_EQ(ValidUtf8("ab\xC3\xA9", 3), "ab");
  EXPECT_EQ(ValidUtf8("ab\xC3\xA9", 4), "ab\xC3\xA9");
  EXPECT_EQ(ValidUtf8("abc", 0), "");
}

TEST(StringsTest, HexIsLowerCaseAndKeepsLeadingZeros) {
  EXPECT_EQ(ToHex(""), "");
  EXPECT_EQ(ToHex(std::string("\x00\x0f\xAB", 3)), "000fab");
}

TEST(StringsTest, Utf8IsToldFromOtherBytes) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8(std::string_view("plain text\0 with a NUL", 22)));
  EXPECT_TRUE(IsUtf8("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"));
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc3", "a\xe2\x82", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "12345678\xff", "\xc3(", "\xf0\x9f\x98"}) {
    EXPECT_FALSE(IsUtf8(bad)) << Printable(bad);
  }
}

}  // namespace
}  // namespace tidemark
