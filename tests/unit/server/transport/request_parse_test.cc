#include "server/transport/request_parse.h"

#include <random>
#include <string>

#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::ReasonIs;

// The field at `number` with these bytes.
std::string Field(int number, const std::string& bytes) {
  std::string wire(1, static_cast<char>(number << 3 | 2));
  for (size_t size = bytes.size();; size >>= 7) {
    wire += static_cast<char>(size < 0x80 ? size : (size & 0x7f) | 0x80);
    if (size < 0x80) return wire + bytes;
  }
}

std::string Problem(const std::string& bytes, const std::string& field) {
  v1::BatchGetRowsRequest parsed;
  EXPECT_FALSE(parsed.ParseFromString(bytes));
  const absl::Status status = UnparsableAs(*v1::BatchGetRowsRequest::descriptor(), bytes);
  EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
  EXPECT_EQ(MetadataValue(status, "field"), field);
  return MetadataValue(status, "problem");
}

constexpr int kRefs = v1::BatchGetRowsRequest::kRefsFieldNumber;
constexpr int kTable = v1::RowRef::kTableFieldNumber;
constexpr int kKey = v1::RowRef::kKeyFieldNumber;
constexpr int kList = v1::Value::kListValueFieldNumber;

TEST(RequestParseTest, TextThatIsNotUtf8IsNamedByItsFieldAndNotEchoed) {
  const std::string good = Field(kRefs, Field(kTable, "customers"));
  const std::string bad = Field(kRefs, Field(kKey, Field(v1::Value::kStringValueFieldNumber, "a")) +
                                           Field(kKey, Field(5, "caf\xe9")));
  EXPECT_EQ(Problem(good + bad, "refs[1].key[1].string_value"),
            "is text, and what was sent is not UTF-8.");
  EXPECT_EQ(Problem(good + Field(kRefs, Field(kTable, "\xff")), "refs[1].table"),
            "is text, and what was sent is not UTF-8.");
}

TEST(RequestParseTest, WhatIsNestedTooDeeplyIsSaidToBe) {
  for (const int levels : {49, 50, 5000}) {
    std::string value = Field(kList, "");
    for (int i = 0; i < levels; ++i) value = Field(kList, Field(1, value));
    const std::string request = Field(kRefs, Field(kKey, value));
    v1::BatchGetRowsRequest parsed;
    ASSERT_FALSE(parsed.ParseFromString(request)) << levels;
    const absl::Status status = UnparsableAs(*v1::BatchGetRowsRequest::descriptor(), request);
    EXPECT_THAT(MetadataValue(status, "problem"), HasSubstr("nested too deeply: at most 100"));
    EXPECT_THAT(MetadataValue(status, "field"), HasSubstr("refs[0].key[0].list_value.values[0]"));
    EXPECT_LT(MetadataValue(status, "field").size(), 250u);
  }
}

TEST(RequestParseTest, GroupsOfNoFieldAreCountedToo) {
  EXPECT_THAT(Problem(std::string(200000, '\x7b'), "request"), HasSubstr("nested too deeply"));
}

TEST(RequestParseTest, WhatIsCutOrNoMessageIsNamedByWhereItIs) {
  const std::string good = Field(kRefs, Field(kTable, "customers"));
  EXPECT_EQ(Problem(good.substr(0, good.size() - 1), "refs[0]"),
            "is cut: it is said to be longer than what was sent.");
  EXPECT_EQ(Problem(Field(kRefs, std::string("\x0a\x7f", 2)), "refs[0].table"),
            "is cut: it is said to be longer than what was sent.");
  EXPECT_THAT(Problem(std::string(1, '\0'), "request"),
              HasSubstr("is no message of type tidemark.v1.BatchGetRowsRequest"));
  EXPECT_THAT(Problem(Field(kRefs, "\x08"), "refs[0]"),
              HasSubstr("is no message of type tidemark.v1.RowRef"));
}

// Whatever protobuf refuses, something is said; what it takes is never asked about.
TEST(RequestParseTest, AnyBytesGetAnAnswer) {
  std::mt19937 random(7);
  int unexplained = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = Field(kRefs, Field(kTable, "customers") + Field(kKey, Field(5, "C-1")));
    if (i % 2 == 0) bytes.resize(random() % 64);
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    v1::BatchGetRowsRequest parsed;
    if (parsed.ParseFromString(bytes)) continue;
    ++refused;
    const absl::Status status = UnparsableAs(*v1::BatchGetRowsRequest::descriptor(), bytes);
    EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
    if (MetadataValue(status, "problem") ==
        "is no message of type tidemark.v1.BatchGetRowsRequest.") {
      ++unexplained;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_EQ(unexplained, 0);
}

}  // namespace
}  // namespace tidemark
