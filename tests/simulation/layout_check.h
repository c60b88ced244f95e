// Checks the bytes of a closed state store against the rules of its layout.
#ifndef TIDEMARK_TESTS_SIMULATION_LAYOUT_CHECK_H_
#define TIDEMARK_TESTS_SIMULATION_LAYOUT_CHECK_H_

#include <string>
#include <vector>

#include "leveldb/env.h"

namespace tidemark::state {

// Every rule that does not hold, in words: version chains of C and H, L against versions, Q for
// each tombstone, no before-images, no ids above the published one. For stores nothing was
// collected from.
std::vector<std::string> CheckLayout(leveldb::Env& env, const std::string& dir);

}  // namespace tidemark::state

#endif  // TIDEMARK_TESTS_SIMULATION_LAYOUT_CHECK_H_
