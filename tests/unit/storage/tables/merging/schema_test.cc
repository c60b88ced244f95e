// Whether a relation fits the tables it feeds: told before a copy starts, with what to do.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/merge_world.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::tidemark::testing::IsOk;
using ::tidemark::testing::ReasonIs;

constexpr char kTables[] = R"(
- name: orders
  key: [id]
  columns: {id: int, total: decimal, note: string}
  from: {source: erp, relation: orders}
- name: customers
  key: [id]
  columns: {id: int, name: string, total: int, newest: string}
  groups:
  - {name: master, from: {source: crm, relation: people}, columns: {name: name}}
  - name: sums
    from: {source: erp, relation: sales}
    group_by: {id: customer}
    where: [{column: status, op: eq, value: open}, {column: weight, op: lt, value: 2.5}]
    aggregates: {total: {sum: total}, newest: {last: note, by: sold_at}}
)";

class SchemaTest : public ::testing::Test {
 protected:
  static std::vector<TestColumn> Orders() {
    return {{"id", Kind::kInt, true}, {"total", Kind::kDecimal}, {"note", Kind::kString}};
  }
  static std::vector<TestColumn> Sales() {
    return {{"id", Kind::kInt, true},     {"customer", Kind::kInt}, {"status", Kind::kString},
            {"weight", Kind::kDecimal},   {"total", Kind::kInt},    {"note", Kind::kString},
            {"sold_at", Kind::kTimestamp}};
  }
  absl::Status Check(const std::string& relation, std::vector<TestColumn> columns,
                     bool full = false) {
    return Merger::CheckSchema(world_.catalog(),
                               *Relation("erp", relation, std::move(columns), full));
  }
  std::string Refused(const std::string& relation, std::vector<TestColumn> columns,
                      bool full = false) {
    const absl::Status status = Check(relation, std::move(columns), full);
    EXPECT_THAT(status, ReasonIs(Reason::kFieldInvalid));
    EXPECT_EQ(MetadataValue(status, "relation"), relation);
    return std::string(status.message());
  }

  std::unique_ptr<state::StateStore> store_ = state::CreateMemoryStore();
  MergeWorld world_{*store_, kTables};
};

TEST_F(SchemaTest, WhatFitsIsAccepted) {
  EXPECT_THAT(Check("orders", Orders()), IsOk());
  EXPECT_THAT(Check("sales", Sales()), IsOk());
  EXPECT_THAT(Check("unknown", {}), IsOk());
  // More columns, another order, types that convert without loss.
  EXPECT_THAT(Check("orders", {{"note", Kind::kJson},
                               {"extra", Kind::kList},
                               {"total", Kind::kInt},
                               {"id", Kind::kInt, true}}),
              IsOk());
}

TEST_F(SchemaTest, AMissingColumnIsNamedWithWhatIsThere) {
  EXPECT_THAT(Refused("orders", {{"id", Kind::kInt, true}, {"note", Kind::kString}}),
              HasSubstr("Relation erp/orders does not fit table \"orders\" (group row): it has no "
                        "column \"total\" (it has id, note)."));
  std::vector<TestColumn> sales = Sales();
  sales[6].name = "sold";
  EXPECT_THAT(Refused("sales", sales), HasSubstr("it has no column \"sold_at\""));
}

TEST_F(SchemaTest, ATypeThatDoesNotFitIsNamedWithBothTypesAndARemedy) {
  std::vector<TestColumn> columns = Orders();
  columns[1].type = Kind::kDouble;
  const std::string message = Refused("orders", columns);
  EXPECT_THAT(message, AllOf(HasSubstr("its column \"total\" is of type double"),
                             HasSubstr("does not become decimal without loss"),
                             HasSubstr("Declare the table's column as double, or leave it out")));
  std::vector<TestColumn> sales = Sales();
  sales[4].type = Kind::kDecimal;  // summed into an int
  EXPECT_THAT(Refused("sales", sales), HasSubstr("does not become int without loss"));
}

TEST_F(SchemaTest, AKeyThatDeletesDoNotSayIsRefusedUnlessOldImagesAreFull) {
  const std::vector<TestColumn> columns = {{"id", Kind::kInt},
                                           {"total", Kind::kDecimal},
                                           {"note", Kind::kString},
                                           {"uid", Kind::kInt, true}};
  EXPECT_THAT(Refused("orders", columns), HasSubstr("REPLICA IDENTITY FULL"));
  EXPECT_THAT(Check("orders", columns, /*full=*/true), IsOk());
}

TEST_F(SchemaTest, AggregatesNeedRowsThatCanBeToldApart) {
  std::vector<TestColumn> sales = Sales();
  sales[0].key = false;
  EXPECT_THAT(Refused("sales", sales, /*full=*/true), HasSubstr("Give it a primary key"));
  sales = Sales();
  sales[0].type = Kind::kDouble;
  EXPECT_THAT(Refused("sales", sales),
              HasSubstr("\"id\" is of type double, which cannot be part of what identifies a row"));
}

TEST_F(SchemaTest, ConditionsAreTypedByTheRelation) {
  std::vector<TestColumn> sales = Sales();
  sales[3].type = Kind::kInt;
  EXPECT_THAT(Refused("sales", sales), HasSubstr("line 14: the condition on column \"weight\": "
                                                 "\"2.5\" is no value of type int"));
  sales[3].type = Kind::kDouble;
  EXPECT_THAT(Check("sales", sales), IsOk());
  sales[3].type = Kind::kJson;
  EXPECT_THAT(Refused("sales", sales), HasSubstr("goes with is_null and is_not_null only"));
}

TEST_F(SchemaTest, WhatHasNoOrderCannotOrder) {
  std::vector<TestColumn> sales = Sales();
  sales[6].type = Kind::kJson;
  EXPECT_THAT(Refused("sales", sales),
              HasSubstr("\"sold_at\" is of type json, which cannot be ordered by"));
}

}  // namespace
}  // namespace tidemark::tables
