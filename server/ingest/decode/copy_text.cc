#include "server/ingest/decode/copy_text.h"

#include "absl/strings/str_cat.h"
#include "common/error.h"

namespace tidemark::ingest {
namespace {

using pgoutput::FieldKind;

// The character that `\c` stands for; PostgreSQL writes no octal or hexadecimal escapes.
char Unescape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return c;
  }
}

absl::Status Malformed(std::string_view problem, size_t columns) {
  return MakeError(Reason::kEventMalformed,
                   absl::StrCat("A copied row of ", columns,
                                " columns is malformed: ", std::string(problem), "."),
                   {{"problem", std::string(problem)}, {"columns", absl::StrCat(columns)}});
}

}  // namespace

absl::Status CopyTextReader::Read(std::string_view line, size_t columns,
                                  std::vector<pgoutput::Field>* fields) {
  fields->clear();
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  // Views into it stay good: it never grows past the line.
  unescaped_.clear();
  unescaped_.reserve(line.size());
  if (columns == 0 && line.empty()) return absl::OkStatus();
  while (true) {
    const size_t end = line.find('\t');
    const std::string_view field = line.substr(0, end);
    if (fields->size() == columns) return Malformed("it has more fields", columns);
    if (field == "\\N") {
      fields->push_back({FieldKind::kNull, {}});
    } else if (field.find('\\') == std::string_view::npos) {
      fields->push_back({FieldKind::kText, field});
    } else {
      const size_t start = unescaped_.size();
      for (size_t i = 0; i < field.size(); ++i) {
        if (field[i] != '\\') {
          unescaped_ += field[i];
        } else if (++i < field.size()) {
          unescaped_ += Unescape(field[i]);
        } else {
          return Malformed("an escape is cut off", columns);
        }
      }
      fields->push_back({FieldKind::kText, std::string_view(unescaped_).substr(start)});
    }
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  if (fields->size() != columns) return Malformed("it has fewer fields", columns);
  return absl::OkStatus();
}

}  // namespace tidemark::ingest
