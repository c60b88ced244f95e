#include "storage/state/state_reader.h"

#include <algorithm>

namespace tidemark::state {

bool Publication::IsDegraded(TableId table) const {
  const std::vector<TableId>& degraded = info().degraded;
  return std::binary_search(degraded.begin(), degraded.end(), table);
}

}  // namespace tidemark::state
