#include "storage/tables/catalog.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::tidemark::testing::IsOk;
using ::tidemark::testing::StatusIs;

std::vector<TableDefinition> Definitions(const std::string& yaml) {
  auto definitions = ParseTableDefinitions(yaml, {"erp", "crm"});
  EXPECT_THAT(definitions, IsOk());
  return *std::move(definitions);
}

constexpr char kOrders[] =
    "- {name: orders, key: [id], columns: {id: int, total: int}, from: {source: erp, relation: "
    "public.orders}}\n";
constexpr char kCustomers[] =
    "- {name: customers, key: [id], columns: {id: int, name: string, orders: int}, groups: [{name: "
    "main, from: {source: crm, relation: people}, columns: {name: name}}, {name: orders, from: "
    "{source: erp, relation: public.orders}, group_by: {id: customer}, aggregates: {orders: "
    "{count: '*'}}}]}\n";

class CatalogTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Catalog>> Open(const std::string& yaml) {
    auto catalog = Catalog::Open(Definitions(yaml), store_->writer());
    EXPECT_THAT(store_->writer().Commit({}), IsOk());
    return catalog;
  }

  std::unique_ptr<state::StateStore> store_ = state::CreateMemoryStore();
};

TEST_F(CatalogTest, NewTablesAreCreatedLoadingAndKeepTheirIds) {
  const auto first = Open(std::string(kOrders) + kCustomers);
  ASSERT_THAT(first, IsOk());
  const Table* orders = (*first)->Find("orders");
  ASSERT_NE(orders, nullptr);
  EXPECT_EQ((*first)->Find(orders->id), orders);
  EXPECT_TRUE(store_->writer().FindTable(orders->id)->loading);
  EXPECT_EQ((*first)->Find("nothing"), nullptr);
  EXPECT_EQ((*first)->Find(state::TableId{77}), nullptr);

  const auto again = Open(std::string(kCustomers) + kOrders);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)->Find("orders")->id, orders->id);
  EXPECT_THAT(store_->writer().Tables(), SizeIs(2));
}

TEST_F(CatalogTest, FeedsAreFoundByRelation) {
  const auto catalog = Open(std::string(kOrders) + kCustomers);
  ASSERT_THAT(catalog, IsOk());
  const auto& feeds = (*catalog)->FeedsOf({"erp", "public.orders"});
  ASSERT_THAT(feeds, SizeIs(2));
  EXPECT_EQ(feeds[0].table->definition.name, "orders");
  EXPECT_EQ(feeds[1].table->definition.name, "customers");
  EXPECT_EQ(feeds[1].group, 1u);
  EXPECT_THAT((*catalog)->FeedsOf({"crm", "public.orders"}), IsEmpty());
  EXPECT_THAT((*catalog)->RelationsOf("erp"), ElementsAre("public.orders"));
  EXPECT_THAT((*catalog)->RelationsOf("crm"), ElementsAre("people"));
  EXPECT_THAT((*catalog)->SourcesOf(*(*catalog)->Find("customers")), ElementsAre("crm", "erp"));
}

TEST_F(CatalogTest, AChangedDefinitionIsRefusedNamingTheDifferenceAndChangesNothing) {
  ASSERT_THAT(Open(kOrders), IsOk());
  const std::string changed =
      "- {name: orders, key: [id], columns: {id: int, total: decimal}, from: {source: erp, "
      "relation: public.orders}}\n";
  const auto refused = Open(changed + kCustomers);
  ASSERT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("Table \"orders\" cannot be opened: it was created with [column \"total\" "
                        "int] and is now defined with [column \"total\" decimal]"));
  EXPECT_THAT(store_->writer().Tables(), SizeIs(1));
  EXPECT_THAT(Open(kOrders), IsOk());
}

TEST_F(CatalogTest, ReadersAndTierMayChangeAtAnyTime) {
  ASSERT_THAT(Open(kOrders), IsOk());
  EXPECT_THAT(
      Open("- {name: orders, key: [id], columns: {id: int, total: int}, readers: [x], tier: "
           "minutes, from: {source: erp, relation: public.orders}}\n"),
      IsOk());
}

TEST_F(CatalogTest, ATableThatWasLeftOutForAWhileIsNotServedAgain) {
  ASSERT_THAT(Open(std::string(kOrders) + kCustomers), IsOk());
  ASSERT_THAT(Open(kCustomers), IsOk());
  ASSERT_THAT(Open(kCustomers), IsOk());
  const auto refused = Open(std::string(kOrders) + kCustomers);
  ASSERT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("has missed changes"));
  EXPECT_THAT(store_->writer().Tables(), SizeIs(2));
}

}  // namespace
}  // namespace tidemark::tables
