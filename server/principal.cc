#include "server/principal.h"

namespace tidemark {
namespace {

constexpr std::pair<PrincipalKind, std::string_view> kKinds[] = {
    {PrincipalKind::kHuman, "HUMAN"},
    {PrincipalKind::kAgent, "AGENT"},
    {PrincipalKind::kService, "SERVICE"},
};

constexpr std::pair<Role, std::string_view> kRoles[] = {
    {Role::kReader, "reader"}, {Role::kAgent, "agent"},       {Role::kApprover, "approver"},
    {Role::kIngest, "ingest"}, {Role::kOperator, "operator"}, {Role::kAuditor, "auditor"},
};

}  // namespace

std::string_view PrincipalKindName(PrincipalKind kind) {
  for (const auto& [value, name] : kKinds) {
    if (value == kind) return name;
  }
  return "";
}

std::optional<PrincipalKind> ParsePrincipalKind(std::string_view name) {
  for (const auto& [value, text] : kKinds) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::string_view RoleName(Role role) {
  for (const auto& [value, name] : kRoles) {
    if (value == role) return name;
  }
  return "";
}

std::optional<Role> ParseRole(std::string_view name) {
  for (const auto& [value, text] : kRoles) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::string RoleNames(Roles roles) {
  std::string names;
  for (Role role : kAllRoles) {
    if (!roles.Has(role)) continue;
    if (!names.empty()) names += ',';
    names += RoleName(role);
  }
  return names;
}

Roles WithImplied(Roles roles) {
  if (roles.Has(Role::kAgent)) roles.Add(Role::kReader);
  return roles;
}

PrincipalPtr LocalPrincipal() {
  Principal local{.tenant = "default", .subject = "local", .kind = PrincipalKind::kService};
  for (Role role : kAllRoles) {
    // Decisions carry a person's name, and nobody has one here.
    if (role != Role::kApprover) local.roles.Add(role);
  }
  return std::make_shared<const Principal>(std::move(local));
}

}  // namespace tidemark
