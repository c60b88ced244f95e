// Page tokens: where the next page of a listing begins, as opaque text.
//
// A token is bound to the method, the request (all fields but the page's own), the principal and
// the store by a keyed checksum, so that one that was changed, cut, or taken to another request is
// refused. The key is derived from the store's incarnation: a scan goes on across a restart. It is
// no secret that grants anything: every page is checked against the caller's rights like the first.
#ifndef TIDEMARK_SERVER_SERVICES_PAGE_TOKEN_H_
#define TIDEMARK_SERVER_SERVICES_PAGE_TOKEN_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/state/token.h"
#include "storage/state/types.h"

namespace tidemark::services {

struct PageToken {
  state::SnapshotId snapshot = state::kNoSnapshot;  // of every page; 0 for listings without one
  std::string after;                                // the last key or name of the page before
  bool operator==(const PageToken&) const = default;
};

// What a token belongs to. Every part counts.
struct PageScope {
  std::string_view method;   // "ScanRows"
  std::string_view tenant;   // of the principal
  std::string_view subject;  // of the principal
  std::string request;       // bytes that are the same for every page of one listing
};

// Thread-safe.
class PageTokenCodec {
 public:
  explicit PageTokenCodec(const state::Incarnation& incarnation);

  // URL-safe text of at most limits::kMaxPageTokenBytes for an `after` of limits::kMaxKeyBytes.
  std::string Encode(const PageToken& token, const PageScope& scope) const;
  // PAGE_TOKEN_INVALID for anything Encode did not write for this scope and store.
  absl::StatusOr<PageToken> Decode(std::string_view text, const PageScope& scope) const;

 private:
  std::string Checksum(std::string_view payload, const PageScope& scope) const;
  std::string key_;
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_PAGE_TOKEN_H_
