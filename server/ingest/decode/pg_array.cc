#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/strings.h"
#include "server/ingest/decode/pg_text.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;

class ArrayReader {
 public:
  ArrayReader(const PgType& type, std::string_view text) : type_(type), text_(text), rest_(text) {}

  absl::StatusOr<Datum> Read(size_t depth) {
    if (!SkipBounds()) return NotOfType(type_, text_);
    TIDEMARK_ASSIGN_OR_RETURN(Datum list, ReadList(depth));
    if (!rest_.empty()) return NotOfType(type_, text_);
    return list;
  }

 private:
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // "[0:1][5:9]=" before the braces.
  bool SkipBounds() {
    if (rest_.empty() || rest_.front() != '[') return true;
    const size_t end = rest_.find('=');
    if (end == std::string_view::npos || rest_[end - 1] != ']') return false;
    if (rest_.substr(0, end).find_first_not_of("[]:-0123456789") != std::string_view::npos) {
      return false;
    }
    rest_.remove_prefix(end + 1);
    return true;
  }

  absl::StatusOr<Datum> ReadList(size_t depth) {
    if (depth >= limits::kMaxValueDepth || !Take('{')) return NotOfType(type_, text_);
    std::vector<Datum> items;
    if (Take('}')) return Datum::List(std::move(items));
    while (true) {
      TIDEMARK_ASSIGN_OR_RETURN(Datum item, ReadItem(depth + 1));
      items.push_back(std::move(item));
      if (Take('}')) return Datum::List(std::move(items));
      if (!Take(type_.delimiter)) return NotOfType(type_, text_);
    }
  }

  absl::StatusOr<Datum> ReadItem(size_t depth) {
    if (rest_.empty()) return NotOfType(type_, text_);
    if (rest_.front() == '{') return ReadList(depth);
    if (rest_.front() == '"') {
      std::string item;
      if (!ReadQuoted(&item)) return NotOfType(type_, text_);
      return ParsePgTextAt(*type_.element, item, depth);
    }
    size_t end = 0;
    while (end < rest_.size() && rest_[end] != type_.delimiter && rest_[end] != '}') ++end;
    const std::string_view item = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (item.empty()) return NotOfType(type_, text_);
    // A text "NULL" would be quoted.
    if (absl::EqualsIgnoreCase(ToAbsl(item), "NULL")) return Datum::Null();
    return ParsePgTextAt(*type_.element, item, depth);
  }

  bool ReadQuoted(std::string* item) {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      if (Take('"')) return true;
      Take('\\');
      if (rest_.empty()) return false;
      *item += rest_.front();
      rest_.remove_prefix(1);
    }
    return false;
  }

  const PgType& type_;
  const std::string_view text_;  // all of it, for messages
  std::string_view rest_;
};

}  // namespace

absl::StatusOr<Datum> ParsePgArray(const PgType& type, std::string_view text, size_t depth) {
  return ArrayReader(type, text).Read(depth);
}

}  // namespace tidemark::ingest
