#include "tests/support/truth_at_lsn.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace tidemark::testing {

TruthAtLsn::TruthAtLsn(const std::string& dsn)
    : replication_(dsn + " replication=database"), sql_(dsn) {
  static std::atomic<int> next{0};
  const std::string slot = absl::StrCat("truth_", getpid(), "_", next++);
  const SqlRows made = replication_.Query(absl::StrCat(
      "CREATE_REPLICATION_SLOT ", slot, " TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT"));
  lsn_text_ = made.at(0).at(1).value();
  unsigned high = 0, low = 0;
  if (std::sscanf(lsn_text_.c_str(), "%X/%X", &high, &low) != 2) std::abort();
  lsn_ = uint64_t{high} << 32 | low;
  sql_.Exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  sql_.Exec(absl::StrCat("SET TRANSACTION SNAPSHOT '", made.at(0).at(2).value(), "'"));
  // The snapshot is taken; the slot would only hold back the log.
  replication_.Exec(absl::StrCat("DROP_REPLICATION_SLOT ", slot));
}

}  // namespace tidemark::testing
