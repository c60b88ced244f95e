// Making incarnations: what tells a store, and its tokens, from every other.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_INCARNATION_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_INCARNATION_H_

#include <functional>
#include <string>

#include "storage/state/token.h"

namespace tidemark::state::engine {

// Gives 16 bytes or more; empty: the system's random numbers.
using RandomBytes = std::function<std::string()>;

Incarnation NewIncarnation(const RandomBytes& random);

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_INCARNATION_H_
