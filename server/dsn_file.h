// The connection string of a source, which stands in a file of its own since it is a secret.
#ifndef TIDEMARK_SERVER_DSN_FILE_H_
#define TIDEMARK_SERVER_DSN_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tidemark {

// What `path` holds, without blanks around it. Errors name the file and show nothing of its
// secrets: it cannot be read, is empty, or holds no connection string (the problem in libpq's
// words).
absl::StatusOr<std::string> ReadDsnFile(const std::string& path);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_DSN_FILE_H_
