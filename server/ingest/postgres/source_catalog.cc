#include "server/ingest/postgres/source_catalog.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/sql.h"

namespace tidemark::ingest {
namespace {

constexpr int kRowFilterVersion = 150000;  // row filters, column lists, schemas in publications

uint32_t Number(const std::optional<std::string>& text) {
  return text.has_value() ? static_cast<uint32_t>(std::strtoul(text->c_str(), nullptr, 10)) : 0;
}
int32_t Signed(const std::optional<std::string>& text) {
  return text.has_value() ? static_cast<int32_t>(std::strtol(text->c_str(), nullptr, 10)) : 0;
}
bool IsTrue(const std::optional<std::string>& text) { return text == "t"; }

// The sessions' search path is empty: every name below is one of pg_catalog.

// --- Publications.

absl::Status CheckPublications(PgConnection& connection,
                               const std::vector<std::string>& publications) {
  TIDEMARK_ASSIGN_OR_RETURN(const PgRows rows,
                            connection.Query(absl::StrCat("SELECT pubname FROM pg_publication "
                                                          "WHERE pubname IN (",
                                                          QuoteLiterals(publications), ")"),
                                             "reading publications"));
  for (const std::string& publication : publications) {
    const bool exists = std::any_of(rows.begin(), rows.end(),
                                    [&](const PgRow& row) { return row[0] == publication; });
    if (!exists) {
      return Failed(absl::StrCat("There is no publication \"", publication,
                                 "\" at the source. Create it there: CREATE PUBLICATION ",
                                 QuoteIdentifier(publication),
                                 " FOR TABLE ...; copying starts by "
                                 "itself then."));
    }
  }
  return absl::OkStatus();
}

// One row per relation and publication that it is in: relation, membership, row filter, and which
// of insert, update, delete and truncate are published.
std::string MembershipQuery(int version, const std::vector<std::string>& names,
                            const std::vector<std::string>& publications) {
  const bool filters = version >= kRowFilterVersion;
  // What makes up a membership: the publication, its flags, and the entries by which the relation
  // is in it. An entry that goes and comes back has another oid.
  const std::string entry = filters ? "pr.oid || ' ' || coalesce(pr.prattrs::text, '') || ' ' || "
                                      "coalesce(pg_get_expr(pr.prqual, pr.prrelid), '')"
                                    : "pr.oid::text";
  const std::string schema_entry =
      filters ? "coalesce((SELECT pn.oid::text FROM pg_publication_namespace pn "
                "WHERE pn.pnpubid = p.oid AND pn.pnnspid = c.relnamespace), '')"
              : "''";
  return absl::StrCat(
      "SELECT n.nspname || '.' || c.relname, concat_ws(' ', p.oid, p.pubinsert, p.pubupdate, "
      "p.pubdelete, p.pubtruncate, p.pubviaroot, coalesce((SELECT string_agg(",
      entry,
      ", ',' ORDER BY pr.oid) FROM pg_publication_rel pr WHERE pr.prpubid = p.oid AND "
      "pr.prrelid IN (SELECT relid FROM pg_partition_ancestors(c.oid) "
      "UNION SELECT c.oid)), ''), ",
      schema_entry, "), ", filters ? "pt.rowfilter" : "NULL",
      ", p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate, ",
      filters ? "array_to_string(pt.attnames, E'\\x01')" : "NULL",
      " FROM pg_publication_tables pt "
      "JOIN pg_publication p ON p.pubname = pt.pubname "
      "JOIN pg_namespace n ON n.nspname = pt.schemaname "
      "JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = pt.tablename "
      "WHERE pt.pubname IN (",
      QuoteLiterals(publications),
      ") AND n.nspname || '.' || c.relname "
      "IN (",
      QuoteLiterals(names), ") ORDER BY 1, p.oid");
}

absl::Status ReadMemberships(PgConnection& connection, const std::vector<std::string>& names,
                             const std::vector<std::string>& publications,
                             std::map<std::string, SourceRelation>* relations) {
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection.Query(MembershipQuery(connection.server_version(), names, publications),
                       "reading publications"));
  struct Published {
    bool changes[4] = {};
    bool all_rows = false;
    std::vector<std::string> filters;
    std::set<std::string> columns;
    bool all_columns = false;
  };
  std::map<std::string, Published> published;
  for (const PgRow& row : rows) {
    const auto relation = relations->find(*row[0]);
    if (relation == relations->end()) continue;
    Published& entry = published[*row[0]];
    absl::StrAppend(&relation->second.membership, *row[1], ";");
    if (row[2].has_value()) {
      entry.filters.push_back(absl::StrCat("(", *row[2], ")"));
    } else {
      entry.all_rows = true;
    }
    for (int i = 0; i < 4; ++i) entry.changes[i] |= IsTrue(row[3 + i]);
    if (row[7].has_value()) {
      for (size_t at = 0; at <= row[7]->size();) {
        const size_t end = std::min(row[7]->find('\1', at), row[7]->size());
        entry.columns.insert(row[7]->substr(at, end - at));
        at = end + 1;
      }
    } else {
      entry.all_columns = true;
    }
  }
  constexpr const char* kChanges[] = {"insert", "update", "delete", "truncate"};
  for (auto& [name, relation] : *relations) {
    const auto entry = published.find(name);
    if (entry == published.end()) {
      return Failed(absl::StrCat(
          "Relation ", name, " is in none of the publications ", absl::StrJoin(publications, ", "),
          ". Add it at the source: ALTER PUBLICATION ", QuoteIdentifier(publications.front()),
          " ADD TABLE ", QuoteIdentifier(relation.schema), ".", QuoteIdentifier(relation.name),
          relation.partitioned
              ? "; a partitioned table also needs SET (publish_via_partition_root = true)."
              : "."));
    }
    for (int i = 0; i < 4; ++i) {
      if (entry->second.changes[i]) continue;
      return Failed(absl::StrCat("No publication publishes ", kChanges[i], " of relation ", name,
                                 ", so such changes would be missed in silence. At the source: "
                                 "ALTER PUBLICATION ",
                                 QuoteIdentifier(publications.front()),
                                 " SET (publish = 'insert, update, delete, truncate')."));
    }
    if (!entry->second.all_rows) relation.row_filter = absl::StrJoin(entry->second.filters, " OR ");
    if (!entry->second.all_columns) {
      auto& columns = relation.columns;
      columns.erase(std::remove_if(columns.begin(), columns.end(),
                                   [&](const SourceColumn& column) {
                                     return entry->second.columns.count(column.name) == 0;
                                   }),
                    columns.end());
    }
  }
  return absl::OkStatus();
}

// --- Relations and columns.

absl::Status ReadClasses(PgConnection& connection, const std::vector<std::string>& names,
                         std::map<std::string, SourceRelation>* relations) {
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection.Query(
          absl::StrCat("SELECT n.nspname || '.' || c.relname, n.nspname, c.relname, c.oid, "
                       "c.relkind, c.relpersistence, c.relreplident, "
                       "greatest(c.reltuples, 0)::int8 FROM pg_class c "
                       "JOIN pg_namespace n ON n.oid = c.relnamespace "
                       "WHERE n.nspname || '.' || c.relname IN (",
                       QuoteLiterals(names), ") AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"),
          "reading relations"));
  for (const PgRow& row : rows) {
    const std::string& full_name = *row[0];
    if (relations->count(full_name) != 0) {
      return Failed(absl::StrCat("Two relations at the source are called ", full_name,
                                 " when schema and name are joined by a dot; rename one."));
    }
    SourceRelation& relation = (*relations)[full_name];
    relation.full_name = full_name;
    relation.schema = *row[1];
    relation.name = *row[2];
    relation.oid = Number(row[3]);
    const std::string& kind = *row[4];
    if (kind != "r" && kind != "p") {
      return Failed(absl::StrCat(full_name, " is a ",
                                 kind == "v"   ? "view"
                                 : kind == "m" ? "materialized view"
                                               : "foreign table",
                                 ": PostgreSQL replicates changes of tables only."));
    }
    if (row[5] != "p") {
      return Failed(absl::StrCat(full_name,
                                 " is an unlogged or temporary table, whose changes PostgreSQL "
                                 "does not replicate. At the source: ALTER TABLE ... SET LOGGED."));
    }
    relation.partitioned = kind == "p";
    relation.identity = row[6]->front();
    relation.estimated_rows = std::strtoull(row[7]->c_str(), nullptr, 10);
  }
  for (const std::string& name : names) {
    if (relations->count(name) == 0) {
      return Failed(absl::StrCat("There is no relation ", Printable(name),
                                 " at the source. Create it, or correct its name (schema.table as "
                                 "the catalog has it, without quotes)."));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadColumns(PgConnection& connection, std::map<std::string, SourceRelation>* relations,
                         std::vector<uint32_t>* types) {
  std::map<uint32_t, SourceRelation*> by_oid;
  for (auto& [name, relation] : *relations) by_oid[relation.oid] = &relation;
  const std::string oids = absl::StrJoin(
      by_oid, ",", [](std::string* out, const auto& entry) { absl::StrAppend(out, entry.first); });
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection.Query(
          absl::StrCat(
              "SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, "
              "format_type(a.atttypid, a.atttypmod), a.attgenerated <> '', "
              "c.relreplident = 'f' OR EXISTS (SELECT FROM pg_index i WHERE "
              "i.indrelid = c.oid AND i.indimmediate AND (CASE c.relreplident WHEN 'd' THEN "
              "i.indisprimary WHEN 'i' THEN i.indisreplident END) AND "
              "a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])), "
              "EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND "
              "i.indisprimary AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])) "
              "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
              "WHERE a.attrelid IN (",
              oids, ") AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum"),
          "reading columns"));
  for (const PgRow& row : rows) {
    SourceRelation& relation = *by_oid.at(Number(row[0]));
    SourceColumn column;
    column.number = Signed(row[1]);
    column.name = *row[2];
    column.type = Number(row[3]);
    column.modifier = Signed(row[4]);
    column.type_name = *row[5];
    column.generated = IsTrue(row[6]);
    column.identity = IsTrue(row[7]);
    column.primary = IsTrue(row[8]);
    if (column.generated) {
      relation.generated_columns.push_back(column.name);
    } else {
      types->push_back(column.type);
      relation.columns.push_back(std::move(column));
    }
  }
  return absl::OkStatus();
}

// --- Types.

struct CatalogType {
  std::string name;
  char kind = 'b';
  uint32_t base = 0;     // of a domain
  uint32_t element = 0;  // of an array
  char delimiter = ',';
};

// Types are made of types before them in a chain; a chain longer than this is no real one.
constexpr int kMaxTypeDepth = 32;

PgTypePtr BuildType(uint32_t oid, const std::map<uint32_t, CatalogType>& catalog, PgTypeMap* types,
                    int depth) {
  if (PgTypePtr known = types->Find(oid)) return known;
  const auto found = catalog.find(oid);
  PgTypePtr type;
  if (found == catalog.end() || depth > kMaxTypeDepth) {
    type = MakeTextType(absl::StrCat("type ", oid));
  } else if (found->second.kind == 'd') {
    type = BuildType(found->second.base, catalog, types, depth + 1);
  } else if (found->second.element != 0) {
    const auto element = catalog.find(found->second.element);
    type = MakeArrayType(BuildType(found->second.element, catalog, types, depth + 1),
                         element == catalog.end() ? ',' : element->second.delimiter);
  } else {
    type = MakeTextType(found->second.name);
  }
  types->Add(oid, type);
  return type;
}

}  // namespace

absl::Status ReadTypes(PgConnection& connection, const std::vector<uint32_t>& oids,
                       PgTypeMap* types) {
  std::set<uint32_t> unknown;
  for (uint32_t oid : oids) {
    if (types->Find(oid) == nullptr) unknown.insert(oid);
  }
  if (unknown.empty()) return absl::OkStatus();
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection.Query(
          absl::StrCat(
              "WITH RECURSIVE needed(oid) AS (SELECT unnest('{", absl::StrJoin(unknown, ","),
              "}'::oid[]) UNION SELECT part.oid FROM needed "
              "JOIN pg_type t ON t.oid = needed.oid, "
              "LATERAL (VALUES (t.typbasetype), (t.typelem)) part(oid) WHERE part.oid <> 0) "
              "SELECT t.oid, n.nspname || '.' || t.typname, t.typtype, t.typbasetype, "
              "CASE WHEN t.typoutput = 'array_out'::regproc THEN t.typelem ELSE 0 END, "
              "t.typdelim FROM needed JOIN pg_type t ON t.oid = needed.oid "
              "JOIN pg_namespace n ON n.oid = t.typnamespace"),
          "reading types"));
  std::map<uint32_t, CatalogType> catalog;
  for (const PgRow& row : rows) {
    catalog[Number(row[0])] = {*row[1], row[2]->front(), Number(row[3]), Number(row[4]),
                               row[5]->front()};
  }
  for (uint32_t oid : unknown) BuildType(oid, catalog, types, 0);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SourceRelation>> ReadRelations(
    PgConnection& connection, const std::vector<std::string>& names,
    const std::vector<std::string>& publications, PgTypeMap* types) {
  TIDEMARK_RETURN_IF_ERROR(CheckPublications(connection, publications));
  std::map<std::string, SourceRelation> relations;
  std::vector<uint32_t> type_oids;
  TIDEMARK_RETURN_IF_ERROR(ReadClasses(connection, names, &relations));
  TIDEMARK_RETURN_IF_ERROR(ReadColumns(connection, &relations, &type_oids));
  TIDEMARK_RETURN_IF_ERROR(ReadMemberships(connection, names, publications, &relations));
  TIDEMARK_RETURN_IF_ERROR(ReadTypes(connection, type_oids, types));
  std::vector<SourceRelation> ordered;
  for (const std::string& name : names) ordered.push_back(std::move(relations.at(name)));
  return ordered;
}

std::string FingerprintExpression(int server_version, const std::vector<std::string>& names,
                                  const std::vector<std::string>& publications) {
  const std::string ours = absl::StrCat(
      "(SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
      "WHERE n.nspname || '.' || c.relname IN (",
      QuoteLiterals(names), "))");
  const std::string published =
      absl::StrCat("(SELECT p.oid FROM pg_publication p WHERE p.pubname IN (",
                   QuoteLiterals(publications), "))");
  const auto rows = [](std::string_view columns, std::string_view from, std::string_view where) {
    return absl::StrCat("(SELECT string_agg(concat_ws(' ', ", ToAbsl(columns), "), ',' ORDER BY ",
                        ToAbsl(columns), ") FROM ", ToAbsl(from), " WHERE ", ToAbsl(where), ")");
  };
  return absl::StrCat(
      "md5(concat_ws(';', ",
      rows("c.oid, c.relname, c.relkind, c.relpersistence, c.relreplident", "pg_class c",
           "c.oid IN " + ours),
      ", ",
      rows("a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attisdropped, "
           "a.attgenerated",
           "pg_attribute a", "a.attnum > 0 AND a.attrelid IN " + ours),
      ", ",
      rows("i.indexrelid, i.indisprimary, i.indisreplident, i.indimmediate", "pg_index i",
           "i.indrelid IN " + ours),
      ", ", rows("p.oid, p.xmin::text", "pg_publication p", "p.oid IN " + published), ", ",
      rows("pr.oid, pr.xmin::text", "pg_publication_rel pr", "pr.prpubid IN " + published),
      server_version < kRowFilterVersion
          ? ""
          : ", " + rows("pn.oid, pn.xmin::text", "pg_publication_namespace pn",
                        "pn.pnpubid IN " + published),
      "))");
}

}  // namespace tidemark::ingest
