// SQL and replication commands: quoting, and what sessions are set to.
#ifndef TIDEMARK_SERVER_INGEST_POSTGRES_SQL_H_
#define TIDEMARK_SERVER_INGEST_POSTGRES_SQL_H_

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::ingest {

// Gives a session the text forms that decode/pg_types.h reads: nothing of a value is lost, and
// nothing depends on the server's configuration. Row security is an error, not fewer rows.
inline constexpr char kTextFormSettings[] =
    "SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'iso_8601'; SET TimeZone = 'UTC'; "
    "SET extra_float_digits = 3; SET bytea_output = 'hex'; SET lc_monetary = 'C'; "
    "SET search_path = ''; SET client_encoding = 'UTF8'; SET row_security = off; "
    "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0";

// "a""b": an identifier, whatever is in it.
std::string QuoteIdentifier(std::string_view name);
// 'a''b': a string constant, whatever is in it (with standard_conforming_strings either way).
std::string QuoteLiteral(std::string_view text);
// 'a','b': a list of string constants for IN (...); never empty: '' stands for nothing.
std::string QuoteLiterals(const std::vector<std::string>& texts);

}  // namespace tidemark::ingest

#endif  // TIDEMARK_SERVER_INGEST_POSTGRES_SQL_H_
