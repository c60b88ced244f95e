// The name of this instance, which tells apart the names that several servers make in one place
// (replication slots of one database).
#ifndef TIDEMARK_SERVER_INSTANCE_H_
#define TIDEMARK_SERVER_INSTANCE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tidemark {

// `wanted`, or the name kept in the file `instance` of the data directory, which is made up and
// written when there is none. 1 to 20 of a-z, 0-9 and _. INVALID_ARGUMENT for another name,
// UNAVAILABLE naming the file when it cannot be written.
absl::StatusOr<std::string> InstanceName(const std::string& data_dir, const std::string& wanted);

// Writes `text` to `path` so that whoever sees the file sees all of it. UNAVAILABLE with path and
// cause.
absl::Status WriteWhole(const std::string& path, const std::string& text);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_INSTANCE_H_
