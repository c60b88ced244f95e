#include "server/config/token_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

constexpr char kAgentHash[] = "7e542874dafc353f457e15db9d96910462164284b71e73ea6d64ac83d3b7405f";

std::string Complaint(const std::string& yaml) {
  const auto tokens = ParseTokens(yaml, "tokens.yaml");
  EXPECT_THAT(tokens, StatusIs(absl::StatusCode::kInvalidArgument)) << yaml;
  return std::string(tokens.status().message());
}

// A file with one principal whose fields are `fields`, on line 2.
std::string One(const std::string& fields) { return "principals:\n  - {" + fields + "}\n"; }

TEST(TokenFileTest, PrincipalsAreRead) {
  const auto tokens = ParseTokens(
      "principals:\n"
      "  - {token_sha256: \"7e542874dafc353f457e15db9d96910462164284b71e73ea6d64ac83d3b7405f\", "
      "tenant: default, subject: credit-agent, kind: AGENT, roles: [agent]}\n"
      "  - {token_sha256: \"5168422CB27BEC62ED8A473A938D09BE73B3FBC7EE10FFB3D3DF6E2E1E1AE2B3\", "
      "tenant: default, subject: credit.approver@distributor.example, kind: HUMAN, "
      "roles: [reader, approver]}\n",
      "tokens.yaml");
  ASSERT_THAT(tokens, IsOk());
  ASSERT_EQ(tokens->size(), 2u);
  EXPECT_EQ((*tokens)[0].hash, HashToken("dev-agent"));
  EXPECT_EQ((*tokens)[0].principal.tenant, "default");
  EXPECT_EQ((*tokens)[0].principal.subject, "credit-agent");
  EXPECT_EQ((*tokens)[0].principal.kind, PrincipalKind::kAgent);
  EXPECT_EQ((*tokens)[0].principal.roles, Roles({Role::kAgent}));
  EXPECT_EQ((*tokens)[1].hash, HashToken("dev-approver"));
  EXPECT_EQ((*tokens)[1].principal.roles, Roles({Role::kReader, Role::kApprover}));
}

TEST(TokenFileTest, EveryComplaintNamesFileLineAndWhatWouldBeRight) {
  const std::string hash = std::string("token_sha256: '") + kAgentHash + "', ";
  EXPECT_THAT(Complaint(""), HasSubstr("tokens.yaml: line 1: the token file is empty"));
  EXPECT_THAT(Complaint("people: []"), HasSubstr("line 1: the token file has no key \"people\""));
  EXPECT_THAT(Complaint("principals: 7"), HasSubstr("line 1: \"principals\" must be a list"));
  EXPECT_THAT(Complaint("principals: [7]"), HasSubstr("line 1: a principal must be a mapping"));
  EXPECT_THAT(Complaint(One("tenant: t, subject: s, kind: AGENT, roles: [agent]")),
              HasSubstr("line 2:"));
  EXPECT_THAT(Complaint(One(hash + "subject: s, kind: AGENT, roles: [agent]")),
              HasSubstr("\"tenant\""));
  EXPECT_THAT(Complaint(One(hash + "tenant: t, kind: AGENT, roles: [agent]")),
              HasSubstr("\"subject\""));
  EXPECT_THAT(
      Complaint(One(hash + "tenant: t, subject: s, kind: ROBOT, roles: [agent]")),
      HasSubstr("line 2: kind must be \"HUMAN\", \"AGENT\" or \"SERVICE\"; it is \"ROBOT\""));
  EXPECT_THAT(Complaint(One(hash + "tenant: t, subject: s, kind: AGENT, roles: [root]")),
              HasSubstr("line 2: there is no role \"root\"; known are \"reader\", \"agent\""));
  EXPECT_THAT(Complaint(One(hash + "tenant: t, subject: s, kind: AGENT, roles: []")),
              HasSubstr("line 2: a principal needs at least one role"));
  EXPECT_THAT(Complaint(One(hash + "tenant: t, subject: s, kind: AGENT, roles: agent")),
              HasSubstr("line 2: roles must be a list"));
  EXPECT_THAT(Complaint(One(hash + "name: x, tenant: t, subject: s, kind: AGENT, roles: [agent]")),
              HasSubstr("line 2: a principal has no key \"name\""));
}

TEST(TokenFileTest, AHashThatIsNoneIsNotRepeated) {
  for (const char* text : {"hunter2", "7e5428", ""}) {
    const std::string complaint =
        Complaint(One(std::string("token_sha256: '") + text +
                      "', tenant: t, subject: s, kind: AGENT, roles: [agent]"));
    EXPECT_THAT(complaint, HasSubstr("line 2: token_sha256 must be the SHA-256 of the token"));
    EXPECT_THAT(complaint, Not(HasSubstr("hunter2")));
  }
  const std::string not_hex(64, 'g');
  EXPECT_THAT(Complaint(One("token_sha256: " + not_hex +
                            ", tenant: t, subject: s, kind: AGENT, roles: [agent]")),
              HasSubstr("64 hexadecimal digits"));
}

TEST(TokenFileTest, ATokenNamesOnePrincipal) {
  const std::string one = std::string("  - {token_sha256: '") + kAgentHash +
                          "', tenant: t, subject: s, kind: AGENT, roles: [agent]}\n";
  EXPECT_THAT(Complaint("principals:\n" + one + one),
              HasSubstr("line 3: this token is that of line 2 too"));
}

TEST(TokenFileTest, AFileThatCannotBeReadIsNamed) {
  const auto tokens = LoadTokens("/no/such/tokens.yaml");
  EXPECT_THAT(tokens, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(tokens.status().message()), HasSubstr("/no/such/tokens.yaml"));
}

}  // namespace
}  // namespace tidemark
