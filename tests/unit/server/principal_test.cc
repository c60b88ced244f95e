#include "server/principal.h"

#include "gtest/gtest.h"

namespace tidemark {
namespace {

TEST(PrincipalTest, NamesAndRolesParseBack) {
  for (Role role : kAllRoles) EXPECT_EQ(ParseRole(RoleName(role)), role);
  for (PrincipalKind kind :
       {PrincipalKind::kHuman, PrincipalKind::kAgent, PrincipalKind::kService}) {
    EXPECT_EQ(ParsePrincipalKind(PrincipalKindName(kind)), kind);
  }
  EXPECT_EQ(ParseRole("root"), std::nullopt);
  EXPECT_EQ(ParseRole("Reader"), std::nullopt);
  EXPECT_EQ(ParsePrincipalKind("human"), std::nullopt);
}

TEST(PrincipalTest, AnAgentIsAReaderAndNothingElseImpliesAnything) {
  EXPECT_EQ(WithImplied({Role::kAgent}), Roles({Role::kAgent, Role::kReader}));
  for (Role role : kAllRoles) {
    if (role == Role::kAgent) continue;
    EXPECT_EQ(WithImplied({role}), Roles({role})) << RoleName(role);
  }
}

TEST(PrincipalTest, WithoutAuthenticationEverybodyHasEveryRoleButApprover) {
  const PrincipalPtr local = LocalPrincipal();
  EXPECT_EQ(local->tenant, "default");
  EXPECT_EQ(local->subject, "local");
  EXPECT_EQ(local->kind, PrincipalKind::kService);
  EXPECT_EQ(RoleNames(local->roles), "reader,agent,ingest,operator,auditor");
}

TEST(PrincipalTest, ASetOfRolesHasWhatWasAdded) {
  Roles roles = {Role::kReader};
  EXPECT_FALSE(roles.HasAnyOf({Role::kAgent, Role::kOperator}));
  roles.Add(Role::kOperator);
  EXPECT_TRUE(roles.HasAnyOf({Role::kAgent, Role::kOperator}));
  roles.Remove(Role::kOperator);
  EXPECT_EQ(roles, Roles({Role::kReader}));
  EXPECT_TRUE(Roles().empty());
}

}  // namespace
}  // namespace tidemark
