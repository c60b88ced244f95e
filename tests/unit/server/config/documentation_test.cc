// docs/configuration.md against the table of keys: what it names exists with this default, and what
// exists is named.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "common/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config/config_keys.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

std::string Documentation() {
  std::ifstream in(std::string(std::getenv("TIDEMARK_SOURCE_DIR")) + "/docs/configuration.md");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The line of the document that describes a key.
std::string RowOf(const std::string& text, const std::string& key) {
  const size_t start = text.find("| `" + key + "` |");
  if (start == std::string::npos) return "";
  return text.substr(start, text.find('\n', start) - start);
}

struct Range {
  std::string operator()(const BytesKey& key) const {
    uint64_t low = key.min;
    uint64_t high = key.max;
    return absl::StrCat(KeyText({"", "", BytesKey{&low, 0, 0}}), " to ",
                        KeyText({"", "", BytesKey{&high, 0, 0}}));
  }
  std::string operator()(const CountKey& key) const {
    return absl::StrCat(key.min, " to ", key.max);
  }
  std::string operator()(const SpanKey& key) const {
    return absl::StrCat(SpanAsWritten(key.min), " to ", SpanAsWritten(key.max));
  }
  std::string operator()(const auto&) const { return ""; }
};

TEST(DocumentationTest, EveryKeyIsDocumentedWithItsDefaultAndRange) {
  const std::string text = Documentation();
  ASSERT_NE(text, "");
  Config config;
  for (const ConfigKey& key : ConfigKeys(config)) {
    const std::string name = absl::StrCat(ToAbsl(key.section), ".", ToAbsl(key.name));
    const std::string row = RowOf(text, name);
    EXPECT_NE(row, "") << name << " is not in docs/configuration.md";
    const std::string fallback = KeyText(key);
    if (!fallback.empty()) {
      EXPECT_THAT(row, HasSubstr("| `" + fallback + "` |")) << name;
    }
    EXPECT_THAT(row, HasSubstr(std::visit(Range(), key.value))) << name;
  }
}

}  // namespace
}  // namespace tidemark
