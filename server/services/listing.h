// Paging through lists that are small enough to be held whole: tables, sources.
#ifndef TIDEMARK_SERVER_SERVICES_LISTING_H_
#define TIDEMARK_SERVER_SERVICES_LISTING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "server/call_context.h"
#include "server/services/page_token.h"

namespace tidemark::services {

// Rows or items of a page: limits::kDefaultPageSize for 0, at most limits::kMaxPageSize.
// FIELD_INVALID for a negative one.
absl::StatusOr<size_t> PageSize(int32_t page_size);

// What a token of this call is bound to; `request` as in PageScope.
PageScope ScopeOf(const CallContext& context, std::string request);

// Calls `add(item)` for the items of the page. `items` are sorted by `name_of`. Returns the next
// page's token, empty on the last page. FIELD_INVALID, PAGE_TOKEN_INVALID.
template <typename Items, typename NameOf, typename Add>
absl::StatusOr<std::string> ListPage(const Items& items, const NameOf& name_of, int32_t page_size,
                                     std::string_view page_token, const PageScope& scope,
                                     const PageTokenCodec& tokens, const Add& add) {
  absl::StatusOr<size_t> size = PageSize(page_size);
  if (!size.ok()) return size.status();
  PageToken from;
  if (!page_token.empty()) {
    absl::StatusOr<PageToken> decoded = tokens.Decode(page_token, scope);
    if (!decoded.ok()) return decoded.status();
    from = *std::move(decoded);
  }
  size_t count = 0;
  std::string last;
  for (const auto& item : items) {
    if (!page_token.empty() && name_of(item) <= from.after) continue;
    if (count == *size) return tokens.Encode({.after = last}, scope);
    add(item);
    last = name_of(item);
    ++count;
  }
  return std::string();
}

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_LISTING_H_
