// The durable state of sources: exact bytes, and what reading tells.
#include "server/ingest/source_state.h"

#include <memory>
#include <string>

#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using state::AuxSpace;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Pair;
using testing::ReasonIs;
using namespace std::string_literals;

TEST(SourceStateKeysTest, BytesAreThoseOfTheDocument) {
  EXPECT_EQ(PartitionKey("erp"), "erp\0p"s);
  EXPECT_EQ(PartitionKey("erp", "orders/3"), "erp\0porders/3"s);
  EXPECT_EQ(CopyMarkKey("erp", "public.orders", 0x0102), "erp\0cpublic.orders\0\0\0\0\0\0\1\2"s);
  EXPECT_EQ(DegradedKey("erp"), "erp\0d"s);
  EXPECT_EQ(EncodeCopyMark({300, "\0x"s}), "\1\xac\2\2\0x"s);
}

TEST(SourceStateKeysTest, CopyMarkReadsBackAndDamageIsTold) {
  const CopyMark mark{~uint64_t{0}, "position\0"s};
  const std::string bytes = EncodeCopyMark(mark);
  EXPECT_THAT(DecodeCopyMark(bytes), IsOkAndHolds(mark));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(DecodeCopyMark(bytes.substr(0, size)), ReasonIs(Reason::kDataDamaged));
  }
  EXPECT_THAT(DecodeCopyMark(bytes + "x"), ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(DecodeCopyMark("\2" + bytes.substr(1)), ReasonIs(Reason::kDataDamaged));
}

class DurableStateTest : public ::testing::Test {
 protected:
  void Put(const std::string& key, const std::string& value) {
    ASSERT_THAT(store_->writer().PutAux(AuxSpace::kSourceState, key, value), IsOk());
  }
  std::unique_ptr<state::StateStore> store_ = state::CreateMemoryStore();
};

TEST_F(DurableStateTest, UnknownSourceHasNone) {
  const auto durable = ReadDurableState(store_->writer(), "erp");
  ASSERT_THAT(durable, IsOk());
  EXPECT_THAT(durable->partitions, IsEmpty());
  EXPECT_THAT(durable->copied, IsEmpty());
  EXPECT_FALSE(durable->degraded);
}

TEST_F(DurableStateTest, TellsPartitionsCopiesAndDegradationOfTheSourceAlone) {
  Put(PartitionKey("erp"), "slot and position");
  Put(PartitionKey("erp", "2"), "other");
  Put(CopyMarkKey("erp", "public.orders", 7), EncodeCopyMark({1, "a"}));
  Put(CopyMarkKey("erp", "public.orders", 8), EncodeCopyMark({2, "b"}));
  Put(DegradedKey("er"), "");
  Put(PartitionKey("er"), "x");
  Put(PartitionKey("erp2"), "y");
  const auto durable = ReadDurableState(store_->writer(), "erp");
  ASSERT_THAT(durable, IsOk());
  EXPECT_THAT(durable->partitions, ElementsAre(Pair("", "slot and position"), Pair("2", "other")));
  EXPECT_THAT(durable->copied, ElementsAre(Pair(Pair("public.orders", 7), CopyMark{1, "a"}),
                                           Pair(Pair("public.orders", 8), CopyMark{2, "b"})));
  EXPECT_TRUE(durable->IsCopied("public.orders", 7));
  EXPECT_FALSE(durable->IsCopied("public.orders", 9));
  EXPECT_FALSE(durable->degraded);
  EXPECT_TRUE(ReadDurableState(store_->writer(), "er")->degraded);
}

TEST_F(DurableStateTest, DamagedKeysAndMarksAreTold) {
  for (const auto& [key, value] : {std::pair("erp\0"s, ""s), std::pair("erp\0x"s, ""s),
                                   std::pair("erp\0c12345678"s, EncodeCopyMark({1, "a"})),
                                   std::pair(CopyMarkKey("erp", "r", 1), "\2"s)}) {
    const auto store = state::CreateMemoryStore();
    ASSERT_THAT(store->writer().PutAux(AuxSpace::kSourceState, key, value), IsOk());
    EXPECT_THAT(ReadDurableState(store->writer(), "erp"), ReasonIs(Reason::kDataDamaged));
  }
}

}  // namespace
}  // namespace tidemark::ingest
