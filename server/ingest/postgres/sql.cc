#include "server/ingest/postgres/sql.h"

namespace tidemark::ingest {

std::string QuoteIdentifier(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string QuoteLiteral(std::string_view text) {
  // A backslash needs an escape string; its prefix keeps a space before it.
  const bool escape = text.find('\\') != std::string_view::npos;
  std::string quoted = escape ? " E'" : "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + '\'';
}

std::string QuoteLiterals(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    if (!list.empty()) list += ',';
    list += QuoteLiteral(text);
  }
  return list.empty() ? "''" : list;
}

}  // namespace tidemark::ingest
