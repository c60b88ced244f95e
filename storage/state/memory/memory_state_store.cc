#include "storage/state/memory/memory_state_store.h"

#include <utility>

#include "storage/state/memory/memory_reader.h"
#include "storage/state/memory/memory_writer.h"

namespace tidemark::state {
namespace {

class MemoryStateStore final : public StateStore {
 public:
  explicit MemoryStateStore(MemoryOptions options)
      : reader_(options.incarnation, std::move(options.stamp_encoder)),
        writer_(reader_, *options.clock) {}

  StateReader& reader() override { return reader_; }
  StateWriter& writer() override { return writer_; }

 private:
  memory::MemoryReader reader_;
  memory::MemoryWriter writer_;
};

}  // namespace

std::unique_ptr<StateStore> CreateMemoryStore(MemoryOptions options) {
  return std::make_unique<MemoryStateStore>(std::move(options));
}

}  // namespace tidemark::state
