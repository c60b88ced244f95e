#include "storage/tables/table_definition.h"

#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tidemark::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using ::tidemark::testing::IsOk;
using ::tidemark::testing::ReasonIs;

constexpr char kCreditDesk[] = R"(server:
  listen: 127.0.0.1:7400
tables:
  - name: orders
    key: [order_id]
    tier: minutes
    readers: [default]
    columns: {order_id: string, customer_id: string, status: string, total_minor: int,
              placed_at: timestamp, decision_ref: string}
    merge: last_row
    from: {source: erp, relation: public.orders}
  - name: customer_state
    key: [customer_id]
    readers: [default, audit]
    columns:
      customer_id: string
      name: string
      credit_limit_minor: int
      open_orders: int
      open_total_minor: int
      last_payment_minor: int
      last_payment_time: timestamp
      returns_count: int
    groups:
      - name: master
        from: {source: erp, relation: public.customers}
        columns: {name: name, credit_limit_minor: limit_minor}
        on_delete: row
      - name: open_orders
        from: {source: erp, relation: public.orders}
        group_by: {customer_id: buyer}
        where: [{column: status, op: in, values: [new, released, held]}]
        aggregates: {open_orders: {count: "*"}, open_total_minor: {sum: total_minor}}
      - name: payments
        from: {source: erp, relation: public.payments}
        group_by: {customer_id: customer_id}
        aggregates: {last_payment_minor: {last: amount_minor, by: paid_at},
                     last_payment_time: {max: paid_at}}
      - name: returns
        from: {source: erp, relation: public.returns}
        aggregates: {returns_count: {count: "*"}}
)";

absl::StatusOr<std::vector<TableDefinition>> Parse(std::string_view yaml) {
  return ParseTableDefinitions(yaml, {"erp", "shop"});
}

// A last_row table with `lines` added (indented by the helper), starting at line 2.
std::string WithLines(const std::vector<std::string>& lines) {
  std::string yaml = "tables:\n";
  for (size_t i = 0; i < lines.size(); ++i) yaml += (i == 0 ? "- " : "  ") + lines[i] + "\n";
  return yaml;
}

std::string MessageOf(std::string_view yaml) {
  const auto definitions = Parse(yaml);
  EXPECT_THAT(definitions, ReasonIs(Reason::kFieldInvalid)) << yaml;
  return std::string(definitions.status().message());
}

// The message for an assembled table (key k: int; columns k, a: int, b: string; anchor on lines
// 4-5) with the given group as its second.
std::string GroupMessage(const std::string& group, const std::string& columns = "a: int") {
  return MessageOf("- name: t\n  key: [k]\n  columns: {k: int, n: string, " + columns +
                   "}\n  groups:\n  - {name: main, from: {source: erp, relation: r}, columns: {n: "
                   "n}}\n  - " +
                   group + "\n");
}

TEST(TableDefinitionTest, TheCreditDeskLoads) {
  const auto definitions = Parse(kCreditDesk);
  ASSERT_THAT(definitions, IsOk());
  ASSERT_EQ(definitions->size(), 2u);

  const TableDefinition& orders = (*definitions)[0];
  EXPECT_EQ(orders.name, "orders");
  EXPECT_EQ(orders.line, 4);
  EXPECT_EQ(orders.tier, "minutes");
  EXPECT_TRUE(orders.last_row);
  EXPECT_THAT(orders.readers, ElementsAre("default"));
  ASSERT_EQ(orders.columns.size(), 6u);
  EXPECT_EQ(orders.columns[4].name, "placed_at");
  EXPECT_EQ(orders.columns[4].type, Kind::kTimestamp);
  ASSERT_EQ(orders.groups.size(), 1u);
  EXPECT_EQ(orders.groups[0].name, "row");
  EXPECT_EQ(orders.groups[0].columns.size(), 6u);
  EXPECT_THAT(orders.groups[0].key_columns, ElementsAre(Pair("order_id", "order_id")));

  const TableDefinition& customers = (*definitions)[1];
  EXPECT_FALSE(customers.last_row);
  EXPECT_EQ(customers.tier, "seconds");
  EXPECT_EQ(customers.anchor(), 0u);
  ASSERT_EQ(customers.groups.size(), 4u);
  EXPECT_EQ(customers.groups[0].on_delete, OnDelete::kRow);
  EXPECT_EQ(customers.groups[0].columns.at("credit_limit_minor"), "limit_minor");
  const GroupDefinition& open = customers.groups[1];
  EXPECT_TRUE(open.is_aggregate());
  EXPECT_THAT(open.key_columns, ElementsAre(Pair("customer_id", "buyer")));
  ASSERT_EQ(open.where.size(), 1u);
  EXPECT_EQ(open.where[0].op, Condition::Op::kIn);
  EXPECT_THAT(open.where[0].values, ElementsAre("new", "released", "held"));
  EXPECT_EQ(open.aggregates[0].function, Aggregate::kCount);
  EXPECT_EQ(open.aggregates[0].argument, "*");
  EXPECT_EQ(customers.groups[2].aggregates[0].order_by, "paid_at");
  EXPECT_THAT(customers.groups[3].key_columns, ElementsAre(Pair("customer_id", "customer_id")));
}

TEST(TableDefinitionTest, TheAnchorIsTheFirstColumnsGroupWhereverItStands) {
  const auto definitions = Parse(
      "- {name: t, key: [k], columns: {k: int, a: int, n: string}, groups: [{name: sums, from: "
      "{source: erp, relation: o}, aggregates: {a: {count: '*'}}}, {name: main, from: {source: "
      "erp, relation: r}, columns: {n: n}, on_delete: row}]}");
  ASSERT_THAT(definitions, IsOk());
  EXPECT_EQ((*definitions)[0].anchor(), 1u);
}

TEST(TableDefinitionTest, EveryColumnTypeIsKnown) {
  const auto definitions = Parse(
      "- {name: t, key: [a], from: {source: erp, relation: r}, columns: {a: bool, b: int, c: "
      "double, d: string, e: bytes, f: decimal, g: timestamp, h: date, i: time, j: json, k: list, "
      "l: list of int}}");
  ASSERT_THAT(definitions, IsOk());
  const auto& columns = (*definitions)[0].columns;
  for (int i = 0; i < 11; ++i) {
    EXPECT_EQ(static_cast<int>(columns[i].type), static_cast<int>(Kind::kBool) + i);
  }
  EXPECT_EQ(columns[11].type, Kind::kList);
  EXPECT_EQ(columns[11].item_type, Kind::kInt);
}

TEST(TableDefinitionTest, EveryComparisonHasANameAndASymbol) {
  const auto parse = [](const std::string& condition) {
    auto definitions = Parse(
        "- {name: t, key: [k], columns: {k: int, n: string, a: int}, groups: [{name: main, from: "
        "{source: erp, relation: r}, columns: {n: n}}, {name: g, from: {source: erp, relation: o}, "
        "where: [" +
        condition + "], aggregates: {a: {sum: x}}}]}");
    EXPECT_THAT(definitions, IsOk()) << condition;
    return (*definitions)[0].groups[1].where[0];
  };
  const std::pair<const char*, Condition::Op> kOps[] = {
      {"eq", Condition::Op::kEq},   {"=", Condition::Op::kEq},    {"ne", Condition::Op::kNe},
      {"'!='", Condition::Op::kNe}, {"lt", Condition::Op::kLt},   {"<", Condition::Op::kLt},
      {"le", Condition::Op::kLe},   {"'<='", Condition::Op::kLe}, {"gt", Condition::Op::kGt},
      {"'>'", Condition::Op::kGt},  {"ge", Condition::Op::kGe},   {"'>='", Condition::Op::kGe}};
  for (const auto& [name, op] : kOps) {
    EXPECT_EQ(parse(std::string("{column: c, value: 5, op: ") + name + "}").op, op) << name;
  }
  EXPECT_EQ(parse("{column: c, op: not_in, values: [1, 2]}").values.size(), 2u);
  EXPECT_EQ(parse("{column: c, op: is_null}").op, Condition::Op::kIsNull);
  EXPECT_EQ(parse("{column: c, op: is_not_null}").op, Condition::Op::kIsNotNull);
}

TEST(TableDefinitionTest, NoTablesAreNoError) {
  EXPECT_THAT(Parse("tables: []").value(), IsEmpty());
  EXPECT_THAT(Parse("tables:").value(), IsEmpty());
  EXPECT_THAT(Parse("server: {listen: x}").value(), IsEmpty());
  EXPECT_THAT(Parse("").value(), IsEmpty());
}

TEST(TableDefinitionTest, MistakesInTablesAreToldWithLineAndRemedy) {
  const std::string name = "name: t", key = "key: [a]", columns = "columns: {a: int, b: string}",
                    from = "from: {source: erp, relation: r}";
  ASSERT_THAT(Parse(WithLines({name, key, columns, from})), IsOk());
  const std::pair<std::vector<std::string>, const char*> kMistakes[] = {
      {{key, columns, from}, "line 2: a table needs the key \"name\""},
      {{name, columns, from}, "line 2: a table needs the key \"key\""},
      {{name, key, from}, "line 2: a table needs the key \"columns\""},
      {{name, key, columns}, "line 2: table \"t\" needs either \"from\" (one relation"},
      {{name, key, columns, from, "colour: red"}, "line 6: a table has no key \"colour\"; known"},
      {{name, key, columns, from, "window: {}"}, "line 6: \"window\" of a table is not yet"},
      {{name, key, columns, from, "retraction: refuse"},
       "line 6: \"retraction\" of a table is not"},
      {{name, key, columns, from, "name: u"}, "line 6: a table has \"name\" twice"},
      {{"name: [t]", key, columns, from},
       "line 2: \"name\" of a table must be a single value, it "
       "is a list"},
      {{"name: 'a b'", key, columns, from}, "line 2: the table name \"a b\" may have only letters"},
      {{"name: ''", key, columns, from}, "must have 1 to 128 bytes"},
      {{name, "key: a", columns, from},
       "line 3: \"key\" must be a list, as in [a, b]; it is \"a\""},
      {{name, "key: []", columns, from}, "line 3: \"key\" must name 1 to 16 columns"},
      {{name, "key: [a, a]", columns, from}, "line 3: \"key\" names \"a\" twice"},
      {{name, "key: [c]", columns, from}, "line 3: the key column \"c\" is not among \"columns\""},
      {{name, key, "columns: {a: double}", from}, "line 3: the key column \"a\" is of type double"},
      {{name, key, "columns: {}", from}, "line 4: \"columns\" is empty"},
      {{name, key, "columns: [a]", from}, "line 4: \"columns\" must be a mapping"},
      {{name, key, "columns: {a: number}", from},
       "line 4: column \"a\" has the unknown type "
       "\"number\"; known are bool, int, double"},
      {{name, key, "columns: {a: list of list}", from}, "unknown type \"list of list\""},
      {{name, key, "columns: {a: {}}", from}, "line 4: the type of \"a\" must be a single value"},
      {{name, key, "columns: {a: int, a: int}", from}, "line 4: \"columns\" has \"a\" twice"},
      {{name, key, columns, from, "tier: hours"}, "line 6: \"tier\" is \"seconds\" or \"minutes\""},
      {{name, key, columns, from, "readers: all"}, "line 6: \"readers\" must be a list"},
      {{name, key, columns, from, "merge: first_row"},
       "line 6: the merge \"first_row\" is not yet"},
      {{name, key, columns, from, "merge: partial_update"}, "\"partial_update\" is not yet avail"},
      {{name, key, columns, from, "merge: aggregate"}, "\"aggregate\" is not yet available"},
      {{name, key, columns, from, "merge: best_row"}, "line 6: there is no merge \"best_row\""},
      {{name, key, columns, "from: erp"}, "line 5: \"from\" must be a mapping"},
      {{name, key, columns, "from: {source: erp}"}, "line 5: \"from\" needs the key \"relation\""},
      {{name, key, columns, "from: {source: crm, relation: r}"},
       "line 5: there is no source \"crm\"; defined are \"erp\" or \"shop\""},
      {{name, key, columns, "from: {source: erp, relation: r, slot: s}"},
       "line 5: \"from\" has no key \"slot\""},
      {{name, key, columns, from, "sequence: []"}, "line 6: \"sequence\" must name 1 to 16"},
      {{name, key, columns, from, "sequence: {}"}, "line 6: \"sequence\" must be a single value"},
      {{name, key, columns, from, "groups: []"}, "line 2: table \"t\" needs either"},
      {{name, key, columns, "groups: []"}, "line 5: \"groups\" must be a list of 1 to"},
      {{name, key, columns, "groups: [{}]", "merge: last_row"}, "line 6: \"merge\" does not go"},
      {{name, key, columns, "groups: [{}]", "sequence: s"}, "line 6: the \"sequence\" of an"},
  };
  for (const auto& [lines, message] : kMistakes) {
    EXPECT_THAT(MessageOf(WithLines(lines)), HasSubstr(message));
  }
}

TEST(TableDefinitionTest, MistakesInGroupsAreToldWithLineAndRemedy) {
  const std::string start = "{name: g, from: {source: erp, relation: o}, ";
  const std::pair<std::string, const char*> kMistakes[] = {
      {"{from: {source: erp, relation: o}, columns: {a: x}}", "line 6: a group needs the key \"na"},
      {"{name: g, columns: {a: x}}", "line 6: a group needs the key \"from\""},
      {"{name: main, from: {source: erp, relation: o}, columns: {a: x}}", "two groups named \"mai"},
      {"{name: 'g g', from: {source: erp, relation: o}, columns: {a: x}}",
       "the group name \"g g\""},
      {start + "columns: {a: x}, aggregates: {a: {sum: x}}}", "needs either \"columns\" or"},
      {start + "sequence: s}", "line 6: group \"g\" needs either \"columns\" or \"aggregates\""},
      {start + "columns: {a: x}, where: []}", "line 6: \"where\" belongs to groups with \"aggre"},
      {start + "columns: {a: x}, on_delete: row}", "only the first columns group (the anchor)"},
      {start + "columns: {a: x}, on_delete: never}", "\"on_delete\" is group, row or ignore, not"},
      {start + "columns: {z: x}}", "fills \"z\", which is not among the table's \"columns\""},
      {start + "columns: {n: x}}", "fills \"n\", which is a key column or filled by another group"},
      {start + "columns: {k: x}}", "fills \"k\", which is a key column"},
      {start + "columns: {}}", "\"columns\" is empty"},
      {start + "columns: {a: x}, color: red}", "a group has no key \"color\""},
      {start + "aggregates: {a: {sum: x}}, window: {column: t}}",
       "\"window\" of a group is not ye"},
      {start + "aggregates: {a: {sum: x}}, on_delete: row}", "\"on_delete\" belongs to groups wit"},
      {start + "aggregates: {}}", "\"aggregates\" is empty"},
      {start + "aggregates: {a: sum}}", "the aggregate \"a\" must be a mapping"},
      {start + "aggregates: {a: {}}}", "needs a function: \"count\", \"sum\", \"min\", \"max\""},
      {start + "aggregates: {a: {median: x}}}", "the aggregate \"a\" has no key \"median\"; known"},
      {start + "aggregates: {a: {product: x}}}", "\"product\" of the aggregate \"a\" is not yet"},
      {start + "aggregates: {a: {last_non_null: x}}}", "\"last_non_null\" of the aggregate"},
      {start + "aggregates: {a: {collect: x}}}", "\"collect\" of the aggregate \"a\" is not yet"},
      {start + "aggregates: {a: {bool_and: x}}}", "\"bool_and\" of the aggregate \"a\" is not yet"},
      {start + "aggregates: {a: {bool_or: x}}}", "\"bool_or\" of the aggregate \"a\" is not yet"},
      {start + "aggregates: {a: {merge_map: x}}}", "\"merge_map\" of the aggregate \"a\" is not"},
      {start + "aggregates: {a: {sum: x, count: x}}}", "has both count and sum"},
      {start + "aggregates: {a: {sum: '*'}}}", "\"*\" goes with count only; sum needs a column"},
      {start + "aggregates: {a: {sum: x, by: y}}}", "\"by\" goes with first and last only"},
      {start + "aggregates: {z: {sum: x}}}", "the aggregate \"z\" is not among the table's"},
      {start + "group_by: {a: x}, aggregates: {a: {sum: x}}}", "\"group_by\" names \"a\", which i"},
      {start + "group_by: [k], aggregates: {a: {sum: x}}}", "\"group_by\" must be a mapping"},
      {start + "where: {}, aggregates: {a: {sum: x}}}", "\"where\" must be a list of conditions"},
      {start + "where: [{op: eq}], aggregates: {a: {sum: x}}}", "a condition needs the key \"colu"},
      {start + "where: [{column: c}], aggregates: {a: {sum: x}}}", "needs the key \"op\""},
      {start + "where: [{column: c, op: like, value: x}], aggregates: {a: {sum: x}}}",
       "there is no op \"like\"; known are \"eq\", \"ne\""},
      {start + "where: [{column: c, op: eq}], aggregates: {a: {sum: x}}}", "takes one \"value\""},
      {start + "where: [{column: c, op: eq, values: [1, 2]}], aggregates: {a: {sum: x}}}",
       "takes one \"value\""},
      {start + "where: [{column: c, op: in, values: []}], aggregates: {a: {sum: x}}}",
       "takes \"values\" with at least one entry"},
      {start + "where: [{column: c, op: is_null, value: 1}], aggregates: {a: {sum: x}}}",
       "takes no value"},
      {start + "where: [{column: c, op: eq, value: null}], aggregates: {a: {sum: x}}}",
       "null is compared with is_null"},
      {start + "where: [{column: c, op: in, value: 1, values: [1]}], aggregates: {a: {sum: x}}}",
       "either \"value\" or \"values\""},
  };
  for (const auto& [group, message] : kMistakes) {
    const std::string told = GroupMessage(group);
    EXPECT_THAT(told, StartsWith("line ")) << group;
    EXPECT_THAT(told, HasSubstr(message)) << group;
  }
}

TEST(TableDefinitionTest, AggregatesAreRefusedOverTypesTheyDoNotTake) {
  const auto message = [](const std::string& aggregate, const std::string& type) {
    return GroupMessage(
        "{name: g, from: {source: erp, relation: o}, aggregates: {a: {" + aggregate + "}}}",
        "a: " + type);
  };
  EXPECT_THAT(message("count: x", "string"), HasSubstr("it fills columns of type int"));
  EXPECT_THAT(message("sum: x", "double"), HasSubstr("sums of doubles are not exact"));
  EXPECT_THAT(message("min: x", "json"), HasSubstr("of type json, which min does not take"));
  EXPECT_THAT(message("max: x", "list of int"), HasSubstr("types that have an order"));
  EXPECT_THAT(message("max: x", "bool"), HasSubstr("types that have an order"));
}

TEST(TableDefinitionTest, ColumnsNoGroupFillsAndTablesWithoutAnchorAreRefused) {
  EXPECT_THAT(GroupMessage("{name: g, from: {source: erp, relation: o}, columns: {a: x}}",
                           "a: int, b: int"),
              HasSubstr("line 1: no group of table \"t\" fills the column \"b\""));
  EXPECT_THAT(MessageOf("- {name: t, key: [k], columns: {k: int, a: int}, groups: [{name: g, from: "
                        "{source: erp, relation: o}, aggregates: {a: {count: '*'}}}]}"),
              HasSubstr("the table needs a columns group"));
  EXPECT_THAT(MessageOf("- {name: t, key: [k], columns: {k: int}, from: {source: erp, relation: "
                        "r}}\n- {name: t, key: [k], columns: {k: int}, from: {source: erp, "
                        "relation: r}}"),
              HasSubstr("line 2: there are two tables named \"t\""));
}

TEST(TableDefinitionTest, HostileTextIsRefusedWithinBounds) {
  EXPECT_THAT(MessageOf(std::string(limits::kMaxConfigBytes + 1, ' ')), HasSubstr("are read"));
  EXPECT_THAT(MessageOf(std::string(100'000, '[')), HasSubstr("this is not YAML"));
  EXPECT_THAT(MessageOf(std::string(100'000, '{')), HasSubstr("this is not YAML"));
  EXPECT_THAT(MessageOf("tables: ["), HasSubstr("this is not YAML"));
  EXPECT_THAT(MessageOf("tables: 7"), HasSubstr("line 1: \"tables\" must be a list"));
  EXPECT_THAT(MessageOf("- &t {name: *t}"), HasSubstr("must be a single value"));
  EXPECT_THAT(MessageOf("- \"\\x01\""), HasSubstr("a table must be a mapping"));
  // Each alias holds ten of the one before: ten million names if they were copied out.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below;
    for (int k = 0; k < 9; ++k) bomb += ", " + below;
    bomb += "]\n";
  }
  EXPECT_THAT(MessageOf(bomb + "tables: *a7\n"), HasSubstr("a table must be a mapping"));
  std::string columns;
  for (size_t i = 0; i <= limits::kMaxColumns; ++i) columns += "c" + std::to_string(i) + ": int, ";
  EXPECT_THAT(MessageOf("- {name: t, key: [c0], columns: {" + columns + "}}"),
              HasSubstr("more than 1000 entries"));
}

TEST(TableDefinitionTest, TheCanonicalTextIsTheMeaningNotTheSpelling) {
  const auto canonical = [](std::string_view yaml) {
    const auto definitions = Parse(yaml);
    EXPECT_THAT(definitions, IsOk());
    return (*definitions)[0].Canonical();
  };
  const std::string plain = canonical(
      "- {name: t, key: [k], columns: {k: int, n: string}, from: {source: erp, relation: r}}");
  EXPECT_EQ(
      plain,
      "table t\nkey \"k\"\ncolumn \"k\" int\ncolumn \"n\" string\nlast_row\ngroup row columns\n"
      "from \"erp\" \"r\"\ngroup_by \"k\"=\"k\"\nset \"k\"=\"k\" \"n\"=\"n\"\non_delete group\n");
  // Spelled out, with another tier and other readers: the same rows.
  EXPECT_EQ(canonical("- name: t\n  merge: last_row\n  tier: minutes\n  readers: [x]\n  from: "
                      "{relation: r, source: erp}\n  key: [k]\n  columns:\n    k: int\n    n: "
                      "string\n"),
            plain);
  // Another type, another order of columns, a sequence: other rows.
  EXPECT_NE(canonical("- {name: t, key: [k], columns: {k: int, n: json}, from: {source: erp, "
                      "relation: r}}"),
            plain);
  EXPECT_NE(canonical("- {name: t, key: [k], columns: {n: string, k: int}, from: {source: erp, "
                      "relation: r}}"),
            plain);
  EXPECT_NE(canonical("- {name: t, key: [k], columns: {k: int, n: string}, from: {source: erp, "
                      "relation: r}, sequence: n}"),
            plain);
  // Names cannot be taken for other words.
  EXPECT_NE(canonical("- {name: t, key: [k], columns: {k: int, 'n\" string': int}, from: {source: "
                      "erp, relation: r}}"),
            plain);
  const std::string assembled = Parse(kCreditDesk).value()[1].Canonical();
  EXPECT_THAT(assembled, HasSubstr("where \"status\" in \"new\" \"released\" \"held\"\n"));
  EXPECT_THAT(assembled, HasSubstr("aggregate \"last_payment_minor\" last \"amount_minor\" by "
                                   "\"paid_at\"\n"));
  EXPECT_THAT(assembled, HasSubstr("on_delete row\n"));
}

}  // namespace
}  // namespace tidemark::tables
