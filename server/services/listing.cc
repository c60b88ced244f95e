#include "server/services/listing.h"

#include <algorithm>

#include "common/error.h"
#include "common/limits.h"

namespace tidemark::services {

absl::StatusOr<size_t> PageSize(int32_t page_size) {
  if (page_size < 0) return FieldInvalid("page_size", "must not be negative.");
  if (page_size == 0) return static_cast<size_t>(limits::kDefaultPageSize);
  return std::min<size_t>(page_size, limits::kMaxPageSize);
}

PageScope ScopeOf(const CallContext& context, std::string request) {
  return {.method = context.method().name,
          .tenant = context.principal().tenant,
          .subject = context.principal().subject,
          .request = std::move(request)};
}

}  // namespace tidemark::services
