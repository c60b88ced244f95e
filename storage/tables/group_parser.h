// What is inside a table definition's groups, read from YAML. Used by the definition parser only.
#ifndef TIDEMARK_STORAGE_TABLES_GROUP_PARSER_H_
#define TIDEMARK_STORAGE_TABLES_GROUP_PARSER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/tables/table_definition.h"

namespace YAML {
class Node;
}

namespace tidemark::tables {

// All of them: FIELD_INVALID with the line.

// {source, relation} with a source among `sources`.
absl::StatusOr<RelationRef> ParseFrom(const YAML::Node& node,
                                      const std::vector<std::string>& sources);
// One column of the relation or a list of them; an absent node is none.
absl::StatusOr<std::vector<std::string>> ParseSequence(const YAML::Node& node);
// One entry of `groups`. `table` has its name, key and columns.
absl::StatusOr<GroupDefinition> ParseGroup(const YAML::Node& node,
                                           const std::vector<std::string>& sources,
                                           const TableDefinition& table);

}  // namespace tidemark::tables

#endif  // TIDEMARK_STORAGE_TABLES_GROUP_PARSER_H_
