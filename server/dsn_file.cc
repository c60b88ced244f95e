#include "server/dsn_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "server/config/config.h"
#include "server/ingest/postgres/connection.h"

namespace tidemark {

absl::StatusOr<std::string> ReadDsnFile(const std::string& path) {
  constexpr size_t kMaxBytes = 64 << 10;
  TIDEMARK_ASSIGN_OR_RETURN(std::string dsn, ReadFile(path, kMaxBytes));
  absl::StripAsciiWhitespace(&dsn);
  if (dsn.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " holds no connection string"));
  }
  if (const absl::Status readable = ingest::CheckDsn(dsn); !readable.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " ", readable.message()));
  }
  return dsn;
}

}  // namespace tidemark
