#include "server/ingest/postgres/failure.h"

#include "common/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark::ingest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Detail(const absl::Status& failure) { return std::string(failure.message()); }

TEST(FailureTest, ServerErrorsBecomeStatesWithAdvice) {
  const struct {
    const char* sqlstate;
    SourceState state;
    const char* advice;
  } cases[] = {
      {"28P01", SourceState::kFailed, "password in the DSN"},
      {"28000", SourceState::kFailed, "pg_hba.conf"},
      {"3D000", SourceState::kFailed, "database name in the DSN"},
      {"42501", SourceState::kFailed, "SELECT on every relation"},
      {"53300", SourceState::kRetrying, "max_wal_senders"},
      {"53400", SourceState::kFailed, "max_replication_slots"},
      {"55006", SourceState::kRetrying, "Another instance"},
      {"57P03", SourceState::kRetrying, "the server says: words."},
      {"XX000", SourceState::kRetrying, "the server says: words."},
  };
  for (const auto& c : cases) {
    const absl::Status failure = FailureOf({c.sqlstate, "words", ""}, "testing");
    EXPECT_EQ(StateOf(failure), c.state) << c.sqlstate;
    EXPECT_THAT(Detail(failure), HasSubstr(c.advice));
    EXPECT_THAT(Detail(failure), HasSubstr("While testing: the server says: words."));
    EXPECT_EQ(SqlStateOf(failure), c.sqlstate);
  }
}

TEST(FailureTest, HintsAreToldWhereWeHaveNoBetterAdvice) {
  EXPECT_THAT(Detail(FailureOf({"XX000", "words", "do this"}, "testing")),
              HasSubstr("Hint: do this."));
}

TEST(FailureTest, ServersWordsAreCutAndHaveNoControlCharacters) {
  const absl::Status failure =
      FailureOf({"XX000", "a\nb\x01" + std::string(5000, 'x') + "\xff", ""}, "testing");
  EXPECT_LT(failure.message().size(), 400u);
  EXPECT_THAT(Detail(failure), HasSubstr("a b x"));
  EXPECT_THAT(Detail(failure), Not(HasSubstr("\n")));
}

TEST(FailureTest, CodesAreFoundInFailedConnections) {
  const ServerError error = ParseConnectionError(
      "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password "
      "authentication failed for user \"erp\"\nLOCATION:  auth_failed, auth.c:330\n");
  EXPECT_EQ(error.sqlstate, "28P01");
  EXPECT_EQ(error.message, "password authentication failed for user \"erp\"");

  const ServerError german = ParseConnectionError("... FATAL:  3D000: Datenbank fehlt\n");
  EXPECT_EQ(german.sqlstate, "3D000");

  const ServerError refused = ParseConnectionError(
      "connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n"
      "\tIs the server running on that host and accepting TCP/IP connections?\n");
  EXPECT_EQ(refused.sqlstate, "");
  EXPECT_THAT(refused.message, HasSubstr("Connection refused"));
  EXPECT_EQ(ParseConnectionError("").sqlstate, "");
  EXPECT_EQ(ParseConnectionError(":  28P01").sqlstate, "");
  EXPECT_EQ(ParseConnectionError(":  28P01:").sqlstate, "28P01");
}

TEST(FailureTest, RowsThatTablesCannotTakeFailTheSource) {
  EXPECT_EQ(StateOf(FailureOfApply(MakeError(Reason::kValueTooLarge, "too large"))),
            SourceState::kFailed);
  EXPECT_EQ(StateOf(FailureOfApply(MakeError(Reason::kDataDamaged, "damaged"))),
            SourceState::kFailed);
  EXPECT_EQ(StateOf(FailureOfApply(MakeError(Reason::kStoreReadOnly, "disk full"))),
            SourceState::kRetrying);
  EXPECT_EQ(StateOf(FailureOfApply(MakeError(Reason::kShuttingDown, "stop"))),
            SourceState::kRetrying);
}

}  // namespace
}  // namespace tidemark::ingest
