#include "server/config/token_file.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"
#include "server/config/config.h"
#include "storage/tables/yaml_reader.h"
#include "yaml-cpp/yaml.h"

namespace tidemark {
namespace {

using tables::YamlMap;

constexpr size_t kMaxTokenFileBytes = 4 << 20;
constexpr size_t kMaxPrincipals = 10'000;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

absl::StatusOr<TokenHash> ReadHash(const YamlMap& map) {
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node node, map.Required("token_sha256"));
  TIDEMARK_ASSIGN_OR_RETURN(const std::string text, tables::YamlText(node, "token_sha256"));
  TokenHash hash{};
  bool valid = text.size() == 2 * hash.size();
  for (size_t i = 0; valid && i < hash.size(); ++i) {
    const int high = HexDigit(text[2 * i]);
    const int low = HexDigit(text[2 * i + 1]);
    valid = high >= 0 && low >= 0;
    hash[i] = static_cast<uint8_t>(high * 16 + low);
  }
  if (!valid) {
    // Not repeated: somebody may have written the token itself.
    return tables::YamlError(tables::LineOf(node),
                             "token_sha256 must be the SHA-256 of the token, 64 hexadecimal digits "
                             "(printf %s TOKEN | sha256sum).");
  }
  return hash;
}

absl::StatusOr<PrincipalKind> ReadKind(const YamlMap& map) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string text, map.RequiredName("kind"));
  const auto kind = ParsePrincipalKind(text);
  if (!kind.has_value()) {
    return tables::YamlError(
        tables::LineOf(map["kind"]),
        absl::StrCat("kind must be \"HUMAN\", \"AGENT\" or \"SERVICE\"; it is ",
                     tables::Quoted(text), "."));
  }
  return *kind;
}

absl::StatusOr<Roles> ReadRoles(const YamlMap& map) {
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node node, map.Required("roles"));
  TIDEMARK_ASSIGN_OR_RETURN(const auto names, tables::YamlNames(node, "roles"));
  Roles roles;
  for (const std::string& name : names) {
    const auto role = ParseRole(name);
    if (!role.has_value()) {
      std::vector<std::string> known;
      for (Role each : kAllRoles) known.emplace_back(RoleName(each));
      return tables::YamlError(tables::LineOf(node),
                               absl::StrCat("there is no role ", tables::Quoted(name),
                                            "; known are ", tables::Alternatives(known), "."));
    }
    roles.Add(*role);
  }
  if (roles.empty()) {
    return tables::YamlError(tables::LineOf(node), "a principal needs at least one role.");
  }
  return roles;
}

absl::StatusOr<TokenEntry> ReadPrincipal(const YAML::Node& node) {
  TIDEMARK_ASSIGN_OR_RETURN(
      const YamlMap map,
      YamlMap::From(node, "a principal", {"token_sha256", "tenant", "subject", "kind", "roles"}));
  TokenEntry entry;
  TIDEMARK_ASSIGN_OR_RETURN(entry.hash, ReadHash(map));
  TIDEMARK_ASSIGN_OR_RETURN(entry.principal.tenant, map.RequiredName("tenant"));
  TIDEMARK_ASSIGN_OR_RETURN(entry.principal.subject, map.RequiredName("subject"));
  TIDEMARK_ASSIGN_OR_RETURN(entry.principal.kind, ReadKind(map));
  TIDEMARK_ASSIGN_OR_RETURN(entry.principal.roles, ReadRoles(map));
  return entry;
}

absl::StatusOr<std::vector<TokenEntry>> ReadTokens(std::string_view yaml) {
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node document, tables::LoadYaml(yaml));
  if (document.IsNull()) return tables::YamlError(1, "the token file is empty.");
  TIDEMARK_ASSIGN_OR_RETURN(const YamlMap root,
                            YamlMap::From(document, "the token file", {"principals"}));
  TIDEMARK_ASSIGN_OR_RETURN(const YAML::Node principals, root.Required("principals"));
  if (!principals.IsSequence() || principals.size() > kMaxPrincipals) {
    return tables::YamlError(
        tables::LineOf(principals),
        absl::StrCat("\"principals\" must be a list of at most ", kMaxPrincipals, "."));
  }
  std::vector<TokenEntry> tokens;
  std::map<TokenHash, int> lines;
  for (const YAML::Node& item : principals) {
    TIDEMARK_ASSIGN_OR_RETURN(TokenEntry entry, ReadPrincipal(item));
    const auto [first, inserted] = lines.emplace(entry.hash, tables::LineOf(item));
    if (!inserted) {
      return tables::YamlError(tables::LineOf(item),
                               absl::StrCat("this token is that of line ", first->second,
                                            " too; a token names one principal."));
    }
    tokens.push_back(std::move(entry));
  }
  return tokens;
}

}  // namespace

absl::StatusOr<std::vector<TokenEntry>> ParseTokens(std::string_view yaml, std::string_view file) {
  auto tokens = ReadTokens(yaml);
  if (tokens.ok()) return tokens;
  return absl::InvalidArgumentError(absl::StrCat(ToAbsl(file), ": ", tokens.status().message()));
}

absl::StatusOr<std::vector<TokenEntry>> LoadTokens(const std::string& file) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string yaml, ReadFile(file, kMaxTokenFileBytes));
  return ParseTokens(yaml, file);
}

}  // namespace tidemark
