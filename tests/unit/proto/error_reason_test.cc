// The catalogue (error_reason.proto) and the table in common/error.cc are two lists of the same
// reasons, because nothing below the services knows a proto. Here they are held together.
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "common/error.h"
#include "gtest/gtest.h"
#include "tidemark/v1/error_reason.pb.h"

namespace tidemark {
namespace {

constexpr std::string_view kPrefix = "ERROR_REASON_";

std::set<std::string> CatalogueNames() {
  std::set<std::string> names;
  const auto* type = v1::ErrorReason_descriptor();
  for (int i = 0; i < type->value_count(); ++i) {
    if (type->value(i)->number() == v1::ERROR_REASON_UNSPECIFIED) continue;
    names.insert(type->value(i)->name().substr(kPrefix.size()));
  }
  return names;
}

// Reason -> the text of its comment. Comments are not part of the compiled descriptor.
std::map<std::string, std::string> CatalogueComments() {
  const char* source = std::getenv("TIDEMARK_SOURCE_DIR");
  std::ifstream file(std::string(source == nullptr ? "." : source) +
                     "/proto/tidemark/v1/error_reason.proto");
  EXPECT_TRUE(file.good()) << "run in the source directory, or set TIDEMARK_SOURCE_DIR";
  std::map<std::string, std::string> comments;
  std::string comment;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "//") {
      comment += line + "\n";
    } else {
      if (word.rfind(kPrefix, 0) == 0) comments[word.substr(kPrefix.size())] = comment;
      comment.clear();
    }
  }
  comments.erase("UNSPECIFIED");
  return comments;
}

TEST(ErrorReasonTest, CatalogueAndTableHoldTheSameReasons) {
  std::set<std::string> table;
  for (Reason reason : AllReasons()) table.insert(std::string(ReasonName(reason)));
  EXPECT_EQ(CatalogueNames(), table);
}

TEST(ErrorReasonTest, EveryReasonStatesItsCodeItsMetadataAndWhatToDo) {
  const auto comments = CatalogueComments();
  for (Reason reason : AllReasons()) {
    const std::string name(ReasonName(reason));
    ASSERT_EQ(comments.count(name), 1u) << name;
    const std::string& comment = comments.at(name);
    const std::string code = "Code: " + absl::StatusCodeToString(CodeOf(reason)) + ".";
    EXPECT_NE(comment.find(code), std::string::npos) << name << ": " << code;
    EXPECT_NE(comment.find("- Metadata: "), std::string::npos) << name;
    EXPECT_NE(comment.find("- Do: "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace tidemark
