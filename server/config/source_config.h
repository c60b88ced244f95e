// The entries of `sources` in tidemark.yaml.
#ifndef TIDEMARK_SERVER_CONFIG_SOURCE_CONFIG_H_
#define TIDEMARK_SERVER_CONFIG_SOURCE_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace YAML {
class Node;
}

namespace tidemark {

// An absent node is no source. FIELD_INVALID with "line N: problem".
absl::StatusOr<std::vector<SourceConfig>> ReadSources(const YAML::Node& node);
// The section as ReadSources takes it; empty for no source.
std::string PrintSources(const std::vector<SourceConfig>& sources);

// The slot of a source that names none: tidemark_<instance>_<source>, in the letters and the length
// PostgreSQL takes.
std::string DefaultSlot(std::string_view instance, std::string_view source);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_CONFIG_SOURCE_CONFIG_H_
