// Compares everything two stores show.
#ifndef TIDEMARK_TESTS_SIMULATION_STATE_COMPARE_H_
#define TIDEMARK_TESTS_SIMULATION_STATE_COMPARE_H_

#include <optional>
#include <string>
#include <vector>

#include "storage/state/state_store.h"

namespace tidemark::state {

// The first difference between what readers of the two publications see at every snapshot: rows by
// key and by scan, changes, who made each snapshot. nullopt: none. `keys` are asked for one by one.
// `newest`: the publications are the newest ones, so that what was changed in place (meta) must be
// the same too.
std::optional<std::string> CompareReaders(const StateReader& a, const PublicationPtr& at_a,
                                          const StateReader& b, const PublicationPtr& at_b,
                                          const std::vector<std::string>& keys, bool newest);

// The first difference between what the two writers know: tables, newest versions of all kinds,
// auxiliary entries.
std::optional<std::string> CompareWriters(StateWriter& a, StateWriter& b,
                                          const std::vector<std::string>& keys);

}  // namespace tidemark::state

#endif  // TIDEMARK_TESTS_SIMULATION_STATE_COMPARE_H_
