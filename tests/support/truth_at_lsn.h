// What a database held at an exact log position, by its own SQL: a temporary logical slot exports a
// snapshot that holds every transaction committed before the slot's consistent point, and nothing
// else.
//
// Example:
//   TruthAtLsn truth(server.Dsn("erp"));
//   EXPECT_EQ(Sorted(truth.Query("SELECT * FROM orders")), OurRowsAt("erp", truth.lsn_text()));
#ifndef TIDEMARK_TESTS_SUPPORT_TRUTH_AT_LSN_H_
#define TIDEMARK_TESTS_SUPPORT_TRUTH_AT_LSN_H_

#include <cstdint>
#include <string>

#include "tests/support/sql_client.h"

namespace tidemark::testing {

// Not thread-safe. Needs a free replication slot while it is made, and a sender while it lives.
class TruthAtLsn {
 public:
  // Check-fails when it cannot (no free slot, no right to replicate).
  explicit TruthAtLsn(const std::string& dsn);

  // Every transaction with a commit position below it is in the rows, no other is.
  uint64_t lsn() const { return lsn_; }
  const std::string& lsn_text() const { return lsn_text_; }  // "0/16B3748"
  SqlRows Query(const std::string& sql) { return sql_.Query(sql); }

 private:
  SqlClient replication_;
  SqlClient sql_;
  uint64_t lsn_ = 0;
  std::string lsn_text_;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_TRUTH_AT_LSN_H_
