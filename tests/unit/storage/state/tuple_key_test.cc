// Row keys: memcmp of encodings orders like the values, and only what the encoder writes decodes.
#include "storage/state/tuple_key.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Lt;
using testing::ReasonIs;
using ::testing::StartsWith;

constexpr uint32_t kSeed = 20240607;

std::string IntKey(int64_t value) { return KeyEncoder().AddInt(value).bytes(); }
std::string StringKey(std::string_view value) { return KeyEncoder().AddString(value).bytes(); }
std::string DecimalKey(std::string_view text) {
  KeyEncoder encoder;
  EXPECT_THAT(encoder.AddDecimal(text), IsOk()) << text;
  return encoder.bytes();
}

TEST(TupleKeyTest, IntegersSortByValue) {
  std::vector<int64_t> values = {
      INT64_MIN, INT64_MIN + 1, -65537, -65536, -257,  -256,  -255,          -1,       0, 1,
      127,       128,           255,    256,    65535, 65536, INT64_MAX - 1, INT64_MAX};
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<int64_t>(random() >> (random() % 64)));
  for (const int64_t a : values) {
    for (const int64_t b : values) {
      ASSERT_EQ(a < b, IntKey(a) < IntKey(b)) << a << " " << b;
      ASSERT_EQ(a == b, IntKey(a) == IntKey(b)) << a << " " << b;
    }
  }
}

TEST(TupleKeyTest, StringsSortByTheirBytesAlsoWithNuls) {
  std::mt19937_64 random(kSeed);
  std::vector<std::string> values = {
      "",     "a",   "ab", "b", std::string("a\0", 2), std::string("a\0b", 3), std::string("\0", 1),
      "\xff", "\x01"};
  for (int i = 0; i < 300; ++i) {
    std::string value;
    for (size_t n = random() % 6; n > 0; --n)
      value.push_back(
          "\0\x01\xff"
          "ab"[random() % 5]);
    values.push_back(value);
  }
  for (const std::string& a : values) {
    for (const std::string& b : values) {
      // A second column must not change the order of the first.
      const std::string left = KeyEncoder().AddString(a).AddInt(9).bytes();
      const std::string right = KeyEncoder().AddString(b).AddInt(-9).bytes();
      if (a < b) {
        ASSERT_THAT(left, Lt(right));
      }
      if (a == b) {
        ASSERT_THAT(right, Lt(left));
      }
    }
  }
}

TEST(TupleKeyTest, NoKeyIsThePrefixOfAnotherWithAsManyColumns) {
  EXPECT_THAT(StringKey(std::string("a\0b", 3)), ::testing::Not(StartsWith(StringKey("a"))));
  EXPECT_THAT(DecimalKey("1.25"), ::testing::Not(StartsWith(DecimalKey("1.2"))));
  EXPECT_THAT(IntKey(256), ::testing::Not(StartsWith(IntKey(1))));
}

TEST(TupleKeyTest, AKeyOfTheFirstColumnsIsAPrefixOfTheWholeKey) {
  KeyEncoder whole;
  whole.AddString("C-17").AddDate(19000).AddBool(true).AddNull();
  EXPECT_THAT(whole.bytes(), StartsWith(KeyEncoder().AddString("C-17").AddDate(19000).bytes()));
}

TEST(TupleKeyTest, OneNumberWrittenInTwoWaysGivesOneDecimalKey) {
  EXPECT_EQ(DecimalKey("1.0"), DecimalKey("1.00"));
  EXPECT_EQ(DecimalKey("1"), DecimalKey("0001.000"));
  EXPECT_EQ(DecimalKey("-0"), DecimalKey("0.000"));
  EXPECT_EQ(DecimalKey("-100"), DecimalKey("-100.0"));
}

TEST(TupleKeyTest, DecimalsSortByValue) {
  // Scaled integers are the truth: i / 1000 written with varying digits.
  std::mt19937_64 random(kSeed);
  std::vector<int64_t> values = {0, 1, -1, 10, -10, 999, 1000, 1001, -999, -1000, -1001};
  for (int i = 0; i < 150; ++i) {
    const int64_t magnitude = static_cast<int64_t>(random() >> (2 + random() % 60));
    values.push_back(random() % 2 == 0 ? magnitude : -magnitude);
  }
  const auto text = [&random](int64_t thousandths) {
    const int64_t magnitude = std::abs(thousandths);
    std::string fraction = absl::StrCat(magnitude % 1000 + 1000).substr(1);
    fraction.append(random() % 3, '0');
    return absl::StrCat(thousandths < 0 ? "-" : "", magnitude / 1000, ".", fraction);
  };
  for (const int64_t a : values) {
    for (const int64_t b : values) {
      const std::string left = DecimalKey(text(a)), right = DecimalKey(text(b));
      ASSERT_EQ(a < b, left < right) << a << " " << b;
      ASSERT_EQ(a == b, left == right) << a << " " << b;
    }
  }
}

TEST(TupleKeyTest, DecimalsThatAreNotPlainDigitsAreMalformed) {
  for (const std::string& text :
       {std::string(), std::string("-"), std::string("."), std::string(".5"), std::string("5."),
        std::string("+5"), std::string("1e5"), std::string("1,5"), std::string("--1"),
        std::string("1.2.3"), std::string(" 1"), std::string("NaN"), std::string(1001, '1'),
        std::string("0.") + std::string(1000, '1')}) {
    KeyEncoder encoder;
    EXPECT_THAT(encoder.AddDecimal(text), ReasonIs(Reason::kKeyMalformed)) << text;
    EXPECT_EQ(encoder.bytes(), "") << text;
  }
}

TEST(TupleKeyTest, DecimalsOfAThousandDigitsAreTaken) {
  const std::string nines(1000, '9');
  const std::string small = "0." + std::string(998, '0') + "1";
  EXPECT_THAT(DecimalKey("-" + nines), Lt(DecimalKey(small)));
  EXPECT_THAT(DecimalKey(small), Lt(DecimalKey(nines)));
  for (const std::string& text : {nines, small}) {
    EXPECT_THAT(DecodeKey(DecimalKey(text)),
                IsOkAndHolds(ElementsAre(KeyElement{KeyType::kDecimal, 0, text})));
  }
}

TEST(TupleKeyTest, TypesNeverShareAKey) {
  const std::vector<std::string> keys = {KeyEncoder().AddNull().bytes(),
                                         KeyEncoder().AddBool(true).bytes(),
                                         IntKey(1),
                                         DecimalKey("1"),
                                         StringKey("1"),
                                         KeyEncoder().AddBytes("1").bytes(),
                                         KeyEncoder().AddDate(1).bytes(),
                                         KeyEncoder().AddTime(1).bytes(),
                                         KeyEncoder().AddTimestamp(1).bytes()};
  for (size_t i = 1; i < keys.size(); ++i) EXPECT_THAT(keys[i - 1], Lt(keys[i]));
}

// A random key and what it decodes to.
std::string RandomKey(std::mt19937_64& random, std::vector<KeyElement>* elements) {
  KeyEncoder encoder;
  for (size_t n = 1 + random() % 4; n > 0; --n) {
    KeyElement e;
    e.type = static_cast<KeyType>(1 + random() % 9);
    const int64_t number = static_cast<int64_t>(random()) >> (random() % 64);
    for (size_t bytes = random() % 8; bytes > 0; --bytes) e.text.push_back(random() % 3);
    switch (e.type) {
      case KeyType::kNull:
        encoder.AddNull();
        break;
      case KeyType::kBool:
        e.number = number & 1;
        encoder.AddBool(e.number != 0);
        break;
      case KeyType::kInt:
        encoder.AddInt(e.number = number);
        break;
      case KeyType::kDate:
        encoder.AddDate(e.number = static_cast<int32_t>(number));
        break;
      case KeyType::kTime:
        encoder.AddTime(e.number = number);
        break;
      case KeyType::kTimestamp:
        encoder.AddTimestamp(e.number = number);
        break;
      case KeyType::kDecimal:
        e.text = absl::StrCat(number);
        EXPECT_THAT(encoder.AddDecimal(e.text), IsOk());
        break;
      case KeyType::kString:
        encoder.AddString(e.text);
        break;
      case KeyType::kBytes:
        encoder.AddBytes(e.text);
        break;
    }
    if (e.type < KeyType::kDecimal || e.type > KeyType::kBytes) e.text.clear();
    elements->push_back(e);
  }
  return encoder.Release();
}

TEST(TupleKeyTest, EveryKeyDecodesToItsElements) {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 3000; ++i) {
    std::vector<KeyElement> elements;
    const std::string key = RandomKey(random, &elements);
    ASSERT_THAT(DecodeKey(key), IsOkAndHolds(elements));
  }
}

std::string EncodeAgain(const std::vector<KeyElement>& elements) {
  KeyEncoder encoder;
  for (const KeyElement& e : elements) {
    switch (e.type) {
      case KeyType::kNull:
        encoder.AddNull();
        break;
      case KeyType::kBool:
        encoder.AddBool(e.number != 0);
        break;
      case KeyType::kInt:
        encoder.AddInt(e.number);
        break;
      case KeyType::kDate:
        encoder.AddDate(static_cast<int32_t>(e.number));
        break;
      case KeyType::kTime:
        encoder.AddTime(e.number);
        break;
      case KeyType::kTimestamp:
        encoder.AddTimestamp(e.number);
        break;
      case KeyType::kDecimal:
        EXPECT_THAT(encoder.AddDecimal(e.text), IsOk());
        break;
      case KeyType::kString:
        encoder.AddString(e.text);
        break;
      case KeyType::kBytes:
        encoder.AddBytes(e.text);
        break;
    }
  }
  return encoder.Release();
}

TEST(TupleKeyTest, DamagedKeysAreMalformedOrAnotherKeyInItsOnlyForm) {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 20000; ++i) {
    std::vector<KeyElement> ignored;
    std::string key = RandomKey(random, &ignored);
    key[random() % key.size()] = static_cast<char>(random());
    if (random() % 4 == 0) key.resize(random() % (key.size() + 1));
    const absl::StatusOr<std::vector<KeyElement>> elements = DecodeKey(key);
    if (elements.ok()) {
      ASSERT_EQ(EncodeAgain(*elements), key);
    } else {
      ASSERT_THAT(elements, ReasonIs(Reason::kKeyMalformed));
    }
  }
}

TEST(TupleKeyTest, HostileBytesAreMalformed) {
  for (const std::string& bytes :
       {std::string("\x00", 1), std::string("\x0a", 1), std::string("\x03", 1),
        std::string("\x03\x89\1\1\1\1\1\1\1\1\1", 11), std::string("\x03\x81\x00", 3),
        std::string("\x03\x88\x80\0\0\0\0\0\0\0", 10), std::string("\x02\x02", 2),
        std::string("\x05"
                    "abc",
                    4),
        std::string("\x05"
                    "a\0\x02",
                    4),
        std::string("\x04\x03\xff\xff\x02\x00", 6), std::string("\x04\x03\x80\x01\x00", 5),
        std::string("\x07\x85\1\1\1\1\1", 7)}) {
    EXPECT_THAT(DecodeKey(bytes), ReasonIs(Reason::kKeyMalformed)) << bytes;
  }
}

TEST(TupleKeyTest, PrefixEndIsTheFirstStringAfterEverythingWithThePrefix) {
  EXPECT_EQ(PrefixEnd("ab"), "ac");
  EXPECT_EQ(PrefixEnd("a\xff\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff"), "");
  EXPECT_EQ(PrefixEnd(""), "");
  EXPECT_EQ(PrefixEnd("a\x7f"), "a\x80");
}

}  // namespace
}  // namespace tidemark::state
