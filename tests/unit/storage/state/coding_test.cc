// Numbers inside keys and values: one form each, in the right order, and no other bytes accepted.
#include "storage/state/coding.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "storage/state/crc32c.h"

namespace tidemark::state {
namespace {

using ::testing::Lt;

const std::vector<uint64_t>& InterestingNumbers() {
  static const auto* numbers = [] {
    auto* n = new std::vector<uint64_t>{0};
    for (int shift = 0; shift < 64; ++shift) {
      const uint64_t power = uint64_t{1} << shift;
      n->insert(n->end(), {power - 1, power, power + 1});
    }
    n->insert(n->end(), {0xf6, 0xf7, 0xf8, 0xf9, UINT64_MAX - 1, UINT64_MAX});
    return n;
  }();
  return *numbers;
}

std::string Ordered(uint64_t value) {
  std::string bytes;
  AppendOrdered(&bytes, value);
  return bytes;
}

TEST(CodingTest, OrderedNumbersSortLikeTheirValues) {
  for (const uint64_t a : InterestingNumbers()) {
    for (const uint64_t b : InterestingNumbers()) {
      if (a < b) {
        EXPECT_THAT(Ordered(a), Lt(Ordered(b))) << a << " " << b;
      }
    }
  }
}

TEST(CodingTest, EveryNumberReadsBackAsWritten) {
  for (const uint64_t value : InterestingNumbers()) {
    std::string bytes;
    AppendOrdered(&bytes, value);
    AppendVarint(&bytes, value);
    AppendBigEndian64(&bytes, value);
    ByteReader in(bytes);
    uint64_t ordered = 0, varint = 0, fixed = 0;
    EXPECT_TRUE(in.ReadOrdered(&ordered) && in.ReadVarint(&varint) && in.ReadBigEndian64(&fixed));
    EXPECT_TRUE(in.done());
    EXPECT_EQ(ordered, value);
    EXPECT_EQ(varint, value);
    EXPECT_EQ(fixed, value);
  }
}

TEST(CodingTest, OrderedNumbersInALongerFormAreRefused) {
  for (const std::string& bytes : {std::string("\xf8\x05", 2), std::string("\xf9\x00\xff", 3)}) {
    uint64_t value = 0;
    EXPECT_FALSE(ByteReader(bytes).ReadOrdered(&value));
  }
}

TEST(CodingTest, VarintsBeyond64BitsAreRefused) {
  uint64_t value = 0;
  EXPECT_FALSE(ByteReader(std::string(9, '\xff') + '\x02').ReadVarint(&value));
  EXPECT_FALSE(ByteReader(std::string(10, '\xff') + '\x01').ReadVarint(&value));
  EXPECT_FALSE(ByteReader("\xff").ReadVarint(&value));
}

TEST(CodingTest, LengthsBeyondTheEndAreRefusedBeforeAnythingIsCopied) {
  std::string bytes;
  AppendVarint(&bytes, uint64_t{1} << 60);
  bytes += "short";
  std::string value = "untouched";
  ByteReader in(bytes);
  EXPECT_FALSE(in.ReadString(&value));
  EXPECT_EQ(value, "untouched");
  EXPECT_FALSE(in.ok());
}

TEST(CodingTest, AFailedReadFailsAllThatFollow) {
  ByteReader in("\xff");
  uint64_t number = 0;
  uint8_t byte = 0;
  EXPECT_FALSE(in.ReadVarint(&number));
  EXPECT_FALSE(in.ReadByte(&byte));
  EXPECT_FALSE(in.done());
}

TEST(CodingTest, TimesKeepMicrosecondsAndUnknown) {
  for (const absl::Time time :
       {absl::InfinitePast(), absl::UnixEpoch(), absl::FromUnixMicros(-1),
        absl::FromUnixMicros(1764540000123456), absl::FromUnixMicros(-62135596800000000)}) {
    std::string bytes;
    AppendTime(&bytes, time);
    ByteReader in(bytes);
    absl::Time read;
    EXPECT_TRUE(in.ReadTime(&read) && in.done());
    EXPECT_EQ(read, time);
  }
}

TEST(CodingTest, TimesTooFarAwayAreCutToTheGreatestStored) {
  std::string bytes;
  AppendTime(&bytes, absl::InfiniteFuture());
  absl::Time read;
  EXPECT_TRUE(ByteReader(bytes).ReadTime(&read));
  EXPECT_EQ(read, absl::FromUnixMicros(int64_t{1} << 62));
}

TEST(Crc32cTest, AgreesWithThePublishedCheckValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(""), 0u);
}

}  // namespace
}  // namespace tidemark::state
