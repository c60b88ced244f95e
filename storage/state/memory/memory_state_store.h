// The reference model of the state table: every snapshot whole, in maps. Obvious and slow, nothing
// survives it. The conformance and simulation tests compare the real engine with it, and tests of
// other rooms use it where they need a store but no disk. Shares no code with the engine.
#ifndef TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_STATE_STORE_H_
#define TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_STATE_STORE_H_

#include <memory>

#include "common/clock.h"
#include "storage/state/state_store.h"
#include "storage/state/token.h"

namespace tidemark::state {

struct MemoryOptions {
  const Clock* clock = &SystemClock();
  StampEncoder stamp_encoder;  // empty: a stamp is the snapshot's token
  Incarnation incarnation = {0x6d, 0x65, 0x6d};
};

// Like a store just created: at snapshot 1, without tables. Nothing ever expires, no write fails.
std::unique_ptr<StateStore> CreateMemoryStore(MemoryOptions options = {});

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_MEMORY_MEMORY_STATE_STORE_H_
