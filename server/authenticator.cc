#include "server/authenticator.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <map>

#include "absl/strings/match.h"
#include "common/check.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark {
namespace {

// Longer ones are refused unhashed.
constexpr size_t kMaxTokenBytes = 4096;

absl::Status Unauthenticated(std::string_view problem, std::string_view message) {
  return MakeError(Reason::kUnauthenticated, message, {{"problem", std::string(problem)}});
}

}  // namespace

TokenHash HashToken(std::string_view token) {
  TokenHash hash;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  return hash;
}

std::unique_ptr<Authenticator> Authenticator::Open() {
  std::unique_ptr<Authenticator> open(new Authenticator);
  open->local_ = std::make_shared<Caller>(LocalPrincipal(), TokenHash{});
  return open;
}

std::unique_ptr<Authenticator> Authenticator::WithTokens(std::vector<TokenEntry> tokens) {
  std::unique_ptr<Authenticator> closed(new Authenticator);
  closed->ReplaceTokens(std::move(tokens));
  return closed;
}

absl::StatusOr<CallerPtr> Authenticator::Authenticate(std::string_view authorization) const {
  if (local_ != nullptr) return local_;
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.empty()) {
    return Unauthenticated("missing",
                           "Credentials are missing: send `authorization: Bearer <token>`.");
  }
  if (!absl::StartsWithIgnoreCase(ToAbsl(authorization), ToAbsl(kScheme)) ||
      authorization.size() > kMaxTokenBytes) {
    return Unauthenticated("not_accepted", "The credentials are not of the form `Bearer <token>`.");
  }
  const TokenHash hash = HashToken(authorization.substr(kScheme.size()));
  std::shared_ptr<const Table> table;
  {
    MutexLock lock(mutex_);
    table = table_;
  }
  const Known* match = nullptr;
  for (const Known& known : *table) {
    if (CRYPTO_memcmp(known.hash.data(), hash.data(), hash.size()) == 0) match = &known;
  }
  if (match == nullptr) return Unauthenticated("not_accepted", "The token is not known.");
  return match->caller;
}

void Authenticator::ReplaceTokens(std::vector<TokenEntry> tokens) {
  TIDEMARK_CHECK(!open());
  std::map<TokenHash, CallerPtr> before;
  {
    MutexLock lock(mutex_);
    if (table_ != nullptr) {
      for (const Known& known : *table_) before.emplace(known.hash, known.caller);
    }
  }
  auto table = std::make_shared<Table>();
  for (TokenEntry& entry : tokens) {
    auto principal = std::make_shared<Principal>(std::move(entry.principal));
    principal->roles = WithImplied(principal->roles);
    const auto same = before.find(entry.hash);
    if (same != before.end() && *same->second->principal == *principal) {
      table->push_back({entry.hash, same->second});
      before.erase(same);
    } else {
      table->push_back({entry.hash, std::make_shared<Caller>(std::move(principal), entry.hash)});
    }
  }
  {
    MutexLock lock(mutex_);
    table_ = std::move(table);
  }
  for (const auto& [hash, caller] : before) caller->replaced = true;
}

bool Authenticator::StillAdmits(const Caller& caller, Roles roles) const {
  if (!caller.replaced) return true;
  std::shared_ptr<const Table> table;
  {
    MutexLock lock(mutex_);
    table = table_;
  }
  for (const Known& known : *table) {
    if (known.hash != caller.hash) continue;
    const Principal& was = *caller.principal;
    const Principal& is = *known.caller->principal;
    return is.tenant == was.tenant && is.subject == was.subject && is.kind == was.kind &&
           is.roles.HasAnyOf(roles);
  }
  return false;
}

}  // namespace tidemark
