// PostgreSQL's types and their text forms: every value of every type to an exact Datum, as
// docs/types.md ("PostgreSQL") lists them.
//
// The text forms are those of a session with DateStyle ISO, IntervalStyle iso_8601, TimeZone UTC,
// extra_float_digits 3, bytea_output hex and client encoding UTF8: nothing of a value is lost, and
// nothing depends on the server's configuration.
#ifndef TIDEMARK_SERVER_INGEST_DECODE_PG_TYPES_H_
#define TIDEMARK_SERVER_INGEST_DECODE_PG_TYPES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "storage/tables/datum.h"

namespace tidemark::ingest {

// How a text form is read.
enum class PgForm : uint8_t {
  kText,  // as it is
  kBool,
  kInt,  // whole numbers that fit int64
  kDouble,
  kNumeric,    // decimal; NaN and infinities stay text
  kChar,       // "char": one byte; a byte over 127 becomes \ooo
  kBytea,      // \x and hexadecimal digits
  kDate,       // what tables::Kind::kDate cannot hold stays text
  kTime,       // without zone
  kTimestamp,  // with or without zone (then UTC); what kTimestamp cannot hold stays text
  kJson,
  kArray,  // list, nested by dimension
};

struct PgType;
using PgTypePtr = std::shared_ptr<const PgType>;

// Immutable.
struct PgType {
  std::string name;  // "numeric", "int4[]", "shop.mood"
  PgForm form = PgForm::kText;
  PgTypePtr element;     // of kArray
  char delimiter = ',';  // of kArray: between elements
};

// What values of the type become (special values aside, which stay kString).
tables::Kind KindOf(const PgType& type);

// A type whose values are arrays of `element`.
PgTypePtr MakeArrayType(PgTypePtr element, char delimiter = ',');
// A type read as text: enums, composites, ranges, and what else is not known.
PgTypePtr MakeTextType(std::string name);

// A built-in type by its oid, which is the same in every database; nullptr for others (extensions,
// users' types, information_schema).
PgTypePtr BuiltinPgType(uint32_t oid);
// A built-in type by its name in pg_catalog ("int4", "_int4"); nullptr for others.
PgTypePtr BuiltinPgType(std::string_view name);

// The types of one database by oid. Not thread-safe.
class PgTypeMap {
 public:
  // Built-in ones are always there. nullptr for others not yet added.
  PgTypePtr Find(uint32_t oid) const;
  void Add(uint32_t oid, PgTypePtr type) { types_[oid] = std::move(type); }
  void Clear() { types_.clear(); }

 private:
  absl::flat_hash_map<uint32_t, PgTypePtr> types_;
};

// The value of a text form. EVENT_MALFORMED for text that the type does not have.
absl::StatusOr<tables::Datum> ParsePgText(const PgType& type, std::string_view text);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_DECODE_PG_TYPES_H_
