// From what a caller shows to who it is.
#ifndef TIDEMARK_SERVER_AUTHENTICATOR_H_
#define TIDEMARK_SERVER_AUTHENTICATOR_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "server/principal.h"

namespace tidemark {

// SHA-256 of a token: all that is stored of it.
using TokenHash = std::array<uint8_t, 32>;
TokenHash HashToken(std::string_view token);

struct TokenEntry {
  TokenHash hash{};
  Principal principal;
};

// A principal by one of its tokens, and how many calls it has in progress (admission counts them).
struct Caller {
  Caller(PrincipalPtr who, const TokenHash& token) : principal(std::move(who)), hash(token) {}
  const PrincipalPtr principal;
  const TokenHash hash;
  std::atomic<int> calls{0};
  std::atomic<bool> replaced{false};  // the token is withdrawn, or its principal is another one now
};
using CallerPtr = std::shared_ptr<Caller>;

// Thread-safe.
class Authenticator {
 public:
  // Everybody is LocalPrincipal(); what they show is not looked at.
  static std::unique_ptr<Authenticator> Open();
  // Nobody is anybody without one of these tokens.
  static std::unique_ptr<Authenticator> WithTokens(std::vector<TokenEntry> tokens);

  // `authorization`: the header's value ("Bearer <token>"), empty when there was none.
  // UNAUTHENTICATED with `problem` = missing or not_accepted. Takes the same time whichever token
  // is shown, and whether it is known.
  absl::StatusOr<CallerPtr> Authenticate(std::string_view authorization) const
      TIDEMARK_EXCLUDES(mutex_);

  // Calls in progress keep who they are; from now on only these tokens count. Callers whose entry
  // is as before stay the same, all others are `replaced`. Not for an open one; by one thread at a
  // time.
  void ReplaceTokens(std::vector<TokenEntry> tokens) TIDEMARK_EXCLUDES(mutex_);

  // Whether the call that `caller` began would still be its own: its token counts, for the same
  // tenant, subject and kind, with one of `roles`.
  bool StillAdmits(const Caller& caller, Roles roles) const TIDEMARK_EXCLUDES(mutex_);

  bool open() const { return local_ != nullptr; }

 private:
  struct Known {
    TokenHash hash;
    CallerPtr caller;
  };
  using Table = std::vector<Known>;

  Authenticator() = default;

  CallerPtr local_;  // constant after construction; null when tokens are needed

  mutable Mutex mutex_;
  std::shared_ptr<const Table> table_ TIDEMARK_GUARDED_BY(mutex_);
};

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_AUTHENTICATOR_H_
