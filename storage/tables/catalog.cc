#include "storage/tables/catalog.h"

#include <algorithm>
#include <set>

#include "common/error.h"

namespace tidemark::tables {
namespace {

// A table that is in the store but left out of the configuration misses changes from then on: its
// stored definition gets this line in front.
constexpr std::string_view kRetired = "retired\n";
constexpr std::string_view kTableLine = "table ";

bool IsRetired(std::string_view stored) { return stored.substr(0, kRetired.size()) == kRetired; }

// The text that TableDefinition::Canonical wrote.
std::string_view CanonicalOf(std::string_view stored) {
  return IsRetired(stored) ? stored.substr(kRetired.size()) : stored;
}

// Empty when the definition is not one of ours.
std::string_view NameOf(std::string_view canonical) {
  if (canonical.substr(0, kTableLine.size()) != kTableLine) return {};
  canonical.remove_prefix(kTableLine.size());
  return canonical.substr(0, canonical.find('\n'));
}

std::string RelationKey(std::string_view source, std::string_view relation) {
  return std::string(source) + '\0' + std::string(relation);
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// The first line that is not the same on both sides, for the message.
std::string FirstDifference(std::string_view stored, std::string_view wanted) {
  const auto before = Lines(stored), now = Lines(wanted);
  size_t i = 0;
  while (i < before.size() && i < now.size() && before[i] == now[i]) ++i;
  const auto shown = [i](const std::vector<std::string_view>& lines) {
    return i < lines.size() ? "[" + std::string(lines[i]) + "]" : std::string("nothing");
  };
  return "it was created with " + shown(before) + " and is now defined with " + shown(now);
}

absl::Status Refuse(std::string_view name, std::string_view problem) {
  return absl::FailedPreconditionError(
      "Table \"" + std::string(name) + "\" cannot be opened: " + std::string(problem) +
      ". Put the definition back as it was, or give the changed table another name: it is then "
      "filled from its sources as a new one.");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(std::vector<TableDefinition> definitions,
                                                       state::StateWriter& writer) {
  // Nothing is changed before everything is checked.
  absl::flat_hash_map<std::string, state::TableRecord> stored;
  for (state::TableRecord& record : writer.Tables()) {
    const std::string name(NameOf(CanonicalOf(record.definition)));
    if (name.empty()) {
      return MakeError(Reason::kDataDamaged, "The stored definition of table " +
                                                 std::to_string(record.id) + " does not decode.");
    }
    stored.emplace(name, std::move(record));
  }
  for (const TableDefinition& definition : definitions) {
    const auto found = stored.find(definition.name);
    if (found == stored.end()) continue;
    if (IsRetired(found->second.definition)) {
      return Refuse(definition.name,
                    "it was left out of the configuration for a while and has missed changes");
    }
    const std::string canonical = definition.Canonical();
    if (canonical != found->second.definition) {
      return Refuse(definition.name, FirstDifference(found->second.definition, canonical));
    }
  }

  std::unique_ptr<Catalog> catalog(new Catalog);
  for (TableDefinition& definition : definitions) {
    state::TableId id = 0;
    const auto found = stored.find(definition.name);
    if (found != stored.end()) {
      id = found->second.id;
      stored.erase(found);
    } else {
      TIDEMARK_ASSIGN_OR_RETURN(id, writer.CreateTable(definition.Canonical()));
    }
    catalog->Add(id, std::move(definition));
  }
  for (const auto& [name, record] : stored) {
    if (IsRetired(record.definition)) continue;
    TIDEMARK_RETURN_IF_ERROR(
        writer.SetDefinition(record.id, std::string(kRetired) + record.definition));
  }
  return catalog;
}

void Catalog::Add(state::TableId id, TableDefinition definition) {
  auto table = std::make_unique<Table>();
  table->id = id;
  table->definition = std::move(definition);
  const TableDefinition& added = table->definition;
  by_name_[added.name] = table.get();
  by_id_[id] = table.get();
  for (size_t i = 0; i < added.groups.size(); ++i) {
    const RelationRef& from = added.groups[i].from;
    by_relation_[RelationKey(from.source, from.relation)].push_back({table.get(), i});
  }
  tables_.push_back(std::move(table));
}

const Table* Catalog::Find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

const Table* Catalog::Find(state::TableId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

const std::vector<Catalog::Feed>& Catalog::FeedsOf(const RelationRef& relation) const {
  static const auto* const kNone = new std::vector<Feed>();
  const auto found = by_relation_.find(RelationKey(relation.source, relation.relation));
  return found == by_relation_.end() ? *kNone : found->second;
}

std::vector<std::string> Catalog::RelationsOf(std::string_view source) const {
  std::set<std::string> relations;
  for (const auto& table : tables_) {
    for (const GroupDefinition& group : table->definition.groups) {
      if (group.from.source == source) relations.insert(group.from.relation);
    }
  }
  return {relations.begin(), relations.end()};
}

std::vector<std::string> Catalog::SourcesOf(const Table& table) const {
  std::set<std::string> sources;
  for (const GroupDefinition& group : table.definition.groups) sources.insert(group.from.source);
  return {sources.begin(), sources.end()};
}

}  // namespace tidemark::tables
