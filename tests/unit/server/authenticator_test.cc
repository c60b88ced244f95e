#include "server/authenticator.h"

#include <functional>

#include "common/strings.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark {
namespace {

using testing::IsOk;
using testing::ReasonIs;

TokenEntry Entry(std::string_view token, std::string subject, Roles roles) {
  return {.hash = HashToken(token),
          .principal = {.tenant = "default", .subject = std::move(subject), .roles = roles}};
}

std::unique_ptr<Authenticator> TwoTokens() {
  return Authenticator::WithTokens(
      {Entry("alpha", "a", {Role::kAgent}), Entry("beta", "b", {Role::kOperator})});
}

TEST(AuthenticatorTest, TheHashIsSha256) {
  const TokenHash hash = HashToken("dev-agent");
  EXPECT_EQ(ToHex({reinterpret_cast<const char*>(hash.data()), hash.size()}),
            "7e542874dafc353f457e15db9d96910462164284b71e73ea6d64ac83d3b7405f");
}

TEST(AuthenticatorTest, ATokenNamesItsPrincipalWithWhatItsRolesImply) {
  const auto authenticator = TwoTokens();
  const auto caller = authenticator->Authenticate("Bearer alpha");
  ASSERT_THAT(caller, IsOk());
  EXPECT_EQ((*caller)->principal->subject, "a");
  EXPECT_TRUE((*caller)->principal->roles.Has(Role::kReader));
  // The scheme's name is case-insensitive.
  EXPECT_EQ((*authenticator->Authenticate("bearer beta"))->principal->subject, "b");
}

TEST(AuthenticatorTest, AnythingElseIsUnauthenticatedWithTheProblemNamed) {
  const auto authenticator = TwoTokens();
  const auto problem = [&](std::string_view shown) {
    const auto caller = authenticator->Authenticate(shown);
    EXPECT_THAT(caller, ReasonIs(Reason::kUnauthenticated)) << shown;
    return MetadataValue(caller.status(), "problem");
  };
  EXPECT_EQ(problem(""), "missing");
  EXPECT_EQ(problem("Bearer gamma"), "not_accepted");
  EXPECT_EQ(problem("Bearer "), "not_accepted");
  EXPECT_EQ(problem("Bearer alpha "), "not_accepted");
  EXPECT_EQ(problem("Basic alpha"), "not_accepted");
  EXPECT_EQ(problem("alpha"), "not_accepted");
  EXPECT_EQ(problem("Bearer " + std::string(1 << 20, 'x')), "not_accepted");
  EXPECT_EQ(problem(std::string("Bearer alpha\0", 13)), "not_accepted");
}

TEST(AuthenticatorTest, AnErrorNeverRepeatsTheToken) {
  const auto caller = TwoTokens()->Authenticate("Bearer my-secret");
  EXPECT_EQ(caller.status().ToString().find("my-secret"), std::string::npos);
}

TEST(AuthenticatorTest, ReplacedTokensCountFromNowOn) {
  const auto authenticator = TwoTokens();
  const auto before = authenticator->Authenticate("Bearer alpha");
  ASSERT_THAT(before, IsOk());
  authenticator->ReplaceTokens({Entry("gamma", "c", {Role::kReader})});
  EXPECT_THAT(authenticator->Authenticate("Bearer alpha"), ReasonIs(Reason::kUnauthenticated));
  EXPECT_EQ((*authenticator->Authenticate("Bearer gamma"))->principal->subject, "c");
  EXPECT_EQ((*before)->principal->subject, "a");
}

TEST(AuthenticatorTest, CallsOfTokensThatChangedAreAdmittedOnlyWhileTheyWouldBegin) {
  const auto authenticator = TwoTokens();
  const CallerPtr alpha = *authenticator->Authenticate("Bearer alpha");
  const CallerPtr beta = *authenticator->Authenticate("Bearer beta");
  const Roles needed = {Role::kReader};
  EXPECT_TRUE(authenticator->StillAdmits(*alpha, needed));
  const auto change = [&](const std::function<void(TokenEntry&)>& to) {
    TokenEntry entry = Entry("alpha", "a", {Role::kReader, Role::kIngest});
    to(entry);
    authenticator->ReplaceTokens({entry});
    return authenticator->StillAdmits(*alpha, needed);
  };
  EXPECT_TRUE(change([](TokenEntry&) {}));
  EXPECT_FALSE(authenticator->StillAdmits(*beta, needed));
  EXPECT_TRUE(change([](TokenEntry& e) { e.principal.roles = {Role::kAgent}; }));
  EXPECT_FALSE(change([](TokenEntry& e) { e.principal.roles = {Role::kIngest}; }));
  EXPECT_FALSE(change([](TokenEntry& e) { e.principal.tenant = "other"; }));
  EXPECT_FALSE(change([](TokenEntry& e) { e.principal.subject = "other"; }));
  EXPECT_FALSE(change([](TokenEntry& e) { e.principal.kind = PrincipalKind::kHuman; }));
  EXPECT_TRUE(change([](TokenEntry&) {}));
  authenticator->ReplaceTokens({});
  EXPECT_FALSE(authenticator->StillAdmits(*alpha, needed));
}

TEST(AuthenticatorTest, AnUnchangedCallerStaysTheSameAndKeepsItsCount) {
  const auto authenticator = Authenticator::WithTokens({Entry("alpha", "a", {Role::kAgent})});
  const CallerPtr before = *authenticator->Authenticate("Bearer alpha");
  authenticator->ReplaceTokens(
      {Entry("gamma", "c", {Role::kReader}), Entry("alpha", "a", {Role::kAgent})});
  EXPECT_EQ(*authenticator->Authenticate("Bearer alpha"), before);
  EXPECT_FALSE(before->replaced);
}

TEST(AuthenticatorTest, WithoutTokensEverybodyIsTheLocalPrincipal) {
  const auto authenticator = Authenticator::Open();
  EXPECT_TRUE(authenticator->open());
  for (std::string_view shown : {"", "Bearer alpha", "nonsense"}) {
    const auto caller = authenticator->Authenticate(shown);
    ASSERT_THAT(caller, IsOk());
    EXPECT_EQ((*caller)->principal->subject, "local");
  }
}

TEST(AuthenticatorTest, AnEmptyTokenFileLetsNobodyIn) {
  const auto authenticator = Authenticator::WithTokens({});
  EXPECT_FALSE(authenticator->open());
  EXPECT_THAT(authenticator->Authenticate("Bearer alpha"), ReasonIs(Reason::kUnauthenticated));
}

}  // namespace
}  // namespace tidemark
