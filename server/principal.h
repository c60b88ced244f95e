// Who is calling. A principal comes from the transport only (a token, later a certificate); a name
// in a request body never counts.
#ifndef TIDEMARK_SERVER_PRINCIPAL_H_
#define TIDEMARK_SERVER_PRINCIPAL_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

enum class PrincipalKind { kHuman, kAgent, kService };
// "HUMAN", "AGENT", "SERVICE".
std::string_view PrincipalKindName(PrincipalKind kind);
std::optional<PrincipalKind> ParsePrincipalKind(std::string_view name);

// One bit each.
enum class Role : uint8_t {
  kReader = 1,    // state of the tables its tenant may read
  kAgent = 2,     // reader, and ledger, checkpoints, budgets, working set, memory, proposals
  kApprover = 4,  // claim and decide
  kIngest = 8,    // send events
  kOperator = 16,
  kAuditor = 32,  // read everything
};
inline constexpr Role kAllRoles[] = {Role::kReader, Role::kAgent,    Role::kApprover,
                                     Role::kIngest, Role::kOperator, Role::kAuditor};
// "reader", "agent", ...
std::string_view RoleName(Role role);
std::optional<Role> ParseRole(std::string_view name);

// A set of roles.
class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(std::initializer_list<Role> roles) {
    for (Role role : roles) Add(role);
  }
  constexpr void Add(Role role) { bits_ |= static_cast<uint8_t>(role); }
  constexpr void Remove(Role role) { bits_ &= static_cast<uint8_t>(~static_cast<uint8_t>(role)); }
  constexpr bool Has(Role role) const { return (bits_ & static_cast<uint8_t>(role)) != 0; }
  constexpr bool HasAnyOf(Roles other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const Roles&) const = default;

 private:
  uint8_t bits_ = 0;
};
// "agent,operator", in the order of kAllRoles.
std::string RoleNames(Roles roles);

struct Principal {
  std::string tenant;
  std::string subject;
  PrincipalKind kind = PrincipalKind::kService;
  Roles roles;  // with what they imply: an agent is a reader
  bool operator==(const Principal&) const = default;
};
using PrincipalPtr = std::shared_ptr<const Principal>;

// `roles` with those they imply.
Roles WithImplied(Roles roles);

// Everybody, when no authentication is configured: {default, local, SERVICE, every role but
// approver}.
PrincipalPtr LocalPrincipal();

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_PRINCIPAL_H_
