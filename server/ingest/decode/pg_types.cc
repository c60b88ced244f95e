#include "server/ingest/decode/pg_types.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/strings.h"

namespace tidemark::ingest {
namespace {

using tables::Kind;

struct Builtin {
  uint32_t oid;
  uint32_t array_oid;  // 0: there is no array type
  const char* name;
  PgForm form = PgForm::kText;
};

// pg_type of PostgreSQL 15, every base, range and multirange type; oids never change. What has no
// form here is text: its text form is all of it.
constexpr Builtin kBuiltins[] = {
    {16, 1000, "bool", PgForm::kBool},
    {17, 1001, "bytea", PgForm::kBytea},
    {18, 1002, "char", PgForm::kChar},
    {19, 1003, "name"},
    {20, 1016, "int8", PgForm::kInt},
    {21, 1005, "int2", PgForm::kInt},
    {22, 1006, "int2vector"},
    {23, 1007, "int4", PgForm::kInt},
    {24, 1008, "regproc"},
    {25, 1009, "text"},
    {26, 1028, "oid", PgForm::kInt},
    {27, 1010, "tid"},
    {28, 1011, "xid", PgForm::kInt},
    {29, 1012, "cid", PgForm::kInt},
    {30, 1013, "oidvector"},
    {114, 199, "json", PgForm::kJson},
    {142, 143, "xml"},
    {194, 0, "pg_node_tree"},
    {600, 1017, "point"},
    {601, 1018, "lseg"},
    {602, 1019, "path"},
    {603, 1020, "box"},
    {604, 1027, "polygon"},
    {628, 629, "line"},
    {650, 651, "cidr"},
    {700, 1021, "float4", PgForm::kDouble},
    {701, 1022, "float8", PgForm::kDouble},
    {718, 719, "circle"},
    {774, 775, "macaddr8"},
    {790, 791, "money"},
    {829, 1040, "macaddr"},
    {869, 1041, "inet"},
    {1033, 1034, "aclitem"},
    {1042, 1014, "bpchar"},
    {1043, 1015, "varchar"},
    {1082, 1182, "date", PgForm::kDate},
    {1083, 1183, "time", PgForm::kTime},
    {1114, 1115, "timestamp", PgForm::kTimestamp},
    {1184, 1185, "timestamptz", PgForm::kTimestamp},
    {1186, 1187, "interval"},
    {1266, 1270, "timetz"},
    {1560, 1561, "bit"},
    {1562, 1563, "varbit"},
    {1700, 1231, "numeric", PgForm::kNumeric},
    {1790, 2201, "refcursor"},
    {2202, 2207, "regprocedure"},
    {2203, 2208, "regoper"},
    {2204, 2209, "regoperator"},
    {2205, 2210, "regclass"},
    {2206, 2211, "regtype"},
    {2950, 2951, "uuid"},
    {2970, 2949, "txid_snapshot"},
    {3220, 3221, "pg_lsn"},
    {3361, 0, "pg_ndistinct"},
    {3402, 0, "pg_dependencies"},
    {3614, 3643, "tsvector"},
    {3615, 3645, "tsquery"},
    {3642, 3644, "gtsvector"},
    {3734, 3735, "regconfig"},
    {3769, 3770, "regdictionary"},
    {3802, 3807, "jsonb", PgForm::kJson},
    {3904, 3905, "int4range"},
    {3906, 3907, "numrange"},
    {3908, 3909, "tsrange"},
    {3910, 3911, "tstzrange"},
    {3912, 3913, "daterange"},
    {3926, 3927, "int8range"},
    {4072, 4073, "jsonpath"},
    {4089, 4090, "regnamespace"},
    {4096, 4097, "regrole"},
    {4191, 4192, "regcollation"},
    {4451, 6150, "int4multirange"},
    {4532, 6151, "nummultirange"},
    {4533, 6152, "tsmultirange"},
    {4534, 6153, "tstzmultirange"},
    {4535, 6155, "datemultirange"},
    {4536, 6157, "int8multirange"},
    {4600, 0, "pg_brin_bloom_summary"},
    {4601, 0, "pg_brin_minmax_multi_summary"},
    {5017, 0, "pg_mcv_list"},
    {5038, 5039, "pg_snapshot"},
    // 64 bits without a sign: over what an int holds, so an exact decimal.
    {5069, 271, "xid8", PgForm::kNumeric},
};

struct BuiltinMaps {
  absl::flat_hash_map<uint32_t, PgTypePtr> by_oid;
  absl::flat_hash_map<std::string, PgTypePtr> by_name;
};

const BuiltinMaps& Builtins() {
  // Never destroyed: threads may outlive static destructors.
  static const BuiltinMaps* const maps = [] {
    auto* made = new BuiltinMaps();
    for (const Builtin& builtin : kBuiltins) {
      auto type = std::make_shared<PgType>();
      type->name = builtin.name;
      type->form = builtin.form;
      made->by_oid[builtin.oid] = type;
      made->by_name[type->name] = type;
      if (builtin.array_oid != 0) {
        const PgTypePtr array = MakeArrayType(type, type->name == "box" ? ';' : ',');
        made->by_oid[builtin.array_oid] = array;
        made->by_name["_" + type->name] = array;
      }
    }
    return made;
  }();
  return *maps;
}

template <typename Map, typename Key>
PgTypePtr FindIn(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

Kind KindOf(const PgType& type) {
  switch (type.form) {
    case PgForm::kText:
    case PgForm::kChar:
      return Kind::kString;
    case PgForm::kBool:
      return Kind::kBool;
    case PgForm::kInt:
      return Kind::kInt;
    case PgForm::kDouble:
      return Kind::kDouble;
    case PgForm::kNumeric:
      return Kind::kDecimal;
    case PgForm::kBytea:
      return Kind::kBytes;
    case PgForm::kDate:
      return Kind::kDate;
    case PgForm::kTime:
      return Kind::kTime;
    case PgForm::kTimestamp:
      return Kind::kTimestamp;
    case PgForm::kJson:
      return Kind::kJson;
    case PgForm::kArray:
      return Kind::kList;
  }
  return Kind::kString;
}

PgTypePtr MakeArrayType(PgTypePtr element, char delimiter) {
  auto type = std::make_shared<PgType>();
  type->name = element->name + "[]";
  type->form = PgForm::kArray;
  type->element = std::move(element);
  type->delimiter = delimiter;
  return type;
}

PgTypePtr MakeTextType(std::string name) {
  auto type = std::make_shared<PgType>();
  type->name = std::move(name);
  return type;
}

PgTypePtr BuiltinPgType(uint32_t oid) { return FindIn(Builtins().by_oid, oid); }

PgTypePtr BuiltinPgType(std::string_view name) {
  return FindIn(Builtins().by_name, std::string(name));
}

PgTypePtr PgTypeMap::Find(uint32_t oid) const {
  if (PgTypePtr builtin = BuiltinPgType(oid)) return builtin;
  return FindIn(types_, oid);
}

}  // namespace tidemark::ingest
