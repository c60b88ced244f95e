#include "server/method_table.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/service_binder.h"

namespace tidemark {
namespace {

using ::testing::UnorderedElementsAre;

TEST(MethodTableTest, EveryMethodIsThereOnceAndSomebodyMayCallIt) {
  std::set<std::string> names;
  for (const Method& method : AllMethods()) {
    EXPECT_TRUE(names.insert(method.FullName()).second) << method.FullName() << " twice";
    EXPECT_FALSE(method.roles.empty()) << method.FullName();
    EXPECT_EQ(FindMethod(method.service, method.name), &method);
  }
  EXPECT_EQ(FindMethod("StateService", "DropTable"), nullptr);
  EXPECT_EQ(FindMethod("", ""), nullptr);
}

TEST(MethodTableTest, AServiceIsOneBlockOfTheTable) {
  std::set<std::string_view> services;
  for (std::string_view service : AllServices()) {
    EXPECT_TRUE(services.insert(service).second) << service << " is in two places";
  }
}

// The list of what exists may only grow: whoever makes a method available adds it here.
TEST(MethodTableTest, TheAvailableMethods) {
  std::set<std::string> available;
  for (const Method& method : AllMethods()) {
    if (method.available) available.insert(method.FullName().substr(12));
  }
  EXPECT_THAT(available,
              UnorderedElementsAre("StateService/GetRow", "StateService/BatchGetRows",
                                   "StateService/ScanRows", "StateService/WatchChanges",
                                   "StateService/GetSnapshot", "StateService/ListTables",
                                   "StateService/GetTable", "IngestService/ListSources",
                                   "IngestService/GetSource", "IngestService/PauseSource",
                                   "IngestService/ResumeSource"));
  EXPECT_TRUE(ServiceAvailable("StateService"));
  EXPECT_FALSE(ServiceAvailable("BudgetService"));
}

// One row per role: what it may call of what exists. An agent is a reader.
TEST(MethodTableTest, WhoMayCallWhat) {
  const auto allowed = [](Role role) {
    std::set<std::string_view> names;
    for (const Method& method : AllMethods()) {
      if (method.available && method.roles.HasAnyOf(WithImplied({role}))) {
        names.insert(method.name);
      }
    }
    return names;
  };
  const auto reads = UnorderedElementsAre("GetRow", "BatchGetRows", "ScanRows", "WatchChanges",
                                          "GetSnapshot", "ListTables", "GetTable");
  EXPECT_THAT(allowed(Role::kReader), reads);
  EXPECT_THAT(allowed(Role::kAgent), reads);
  EXPECT_THAT(allowed(Role::kApprover), UnorderedElementsAre());
  EXPECT_THAT(allowed(Role::kIngest), UnorderedElementsAre());
  EXPECT_THAT(allowed(Role::kOperator),
              UnorderedElementsAre("ListSources", "GetSource", "PauseSource", "ResumeSource"));
  EXPECT_THAT(
      allowed(Role::kAuditor),
      UnorderedElementsAre("GetRow", "BatchGetRows", "ScanRows", "WatchChanges", "GetSnapshot",
                           "ListTables", "GetTable", "ListSources", "GetSource"));
}

// Decisions and what acts on the outside are for the roles that were made for them alone.
TEST(MethodTableTest, OnlyApproversDecideAndOnlyAgentsAct) {
  EXPECT_EQ(RoleNames(FindMethod("ApprovalService", "DecideApproval")->roles), "approver");
  EXPECT_EQ(RoleNames(FindMethod("ApprovalService", "ClaimApprovals")->roles), "approver");
  EXPECT_EQ(RoleNames(FindMethod("ToolCallService", "BeginToolCall")->roles), "agent");
  EXPECT_EQ(RoleNames(FindMethod("BudgetService", "UpdateBudget")->roles), "operator");
  EXPECT_EQ(RoleNames(FindMethod("IngestService", "StreamEvents")->roles), "ingest");
}

}  // namespace
}  // namespace tidemark
