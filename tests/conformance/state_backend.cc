#include "tests/conformance/state_backend.h"

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/strings.h"
#include "storage/state/memory/memory_state_store.h"
#include "tests/support/fault_env.h"

namespace tidemark::state {
namespace {

class MemoryBackend final : public StateBackend {
 public:
  bool Has(Feature feature) const override {
    switch (feature) {
      case Feature::kRestart:
        return false;  // it keeps nothing outside the process
      case Feature::kWriteFailure:
        return false;  // it writes nowhere
      case Feature::kWholeBatches:
        return true;
    }
    return true;
  }
  StateStore& store() override { return *store_; }

 private:
  const std::unique_ptr<StateStore> store_ =
      CreateMemoryStore({.clock = &clock, .stamp_encoder = TestStamp});
};

// A snapshot of one row passes it.
constexpr size_t kTinyBatchBytes = 300;

struct LevelDbShape {
  size_t row_cache_bytes = 1 << 20;
  size_t max_batch_bytes = 8 << 20;
  bool compact_always = false;
};

class LevelDbBackend final : public StateBackend {
 public:
  explicit LevelDbBackend(LevelDbShape shape) : shape_(shape) { Open(); }

  bool Has(Feature feature) const override {
    // Before a chunk of a large snapshot is written, what was ended before goes first. With a bound
    // this small that splits every batch.
    return feature != Feature::kWholeBatches || shape_.max_batch_bytes > kTinyBatchBytes;
  }
  StateStore& store() override { return *store_; }
  void Reopen() override {
    store_.reset();
    Open();
  }
  void Compact() override {
    if (shape_.compact_always) store_->Compact();
  }
  void FailWrites() override { env_.FailAfter(0); }

 private:
  void Open() {
    StateOptions options;
    options.dir = "/state";
    options.block_cache_bytes = 1 << 20;
    options.row_cache_bytes = shape_.row_cache_bytes;
    options.max_batch_bytes = shape_.max_batch_bytes;
    options.clock = &clock;
    options.stamp_encoder = TestStamp;
    options.random = [this] { return "0123456789abcde" + std::string(1, ++last_incarnation_); };
    options.env = &env_;
    absl::StatusOr<std::unique_ptr<LevelDbStore>> opened = OpenLevelDbStore(options);
    TIDEMARK_CHECK(opened.ok());
    store_ = *std::move(opened);
  }

  const LevelDbShape shape_;
  testing::FaultEnv env_;
  char last_incarnation_ = 0;
  std::unique_ptr<LevelDbStore> store_;
};

}  // namespace

std::string TestStamp(const SnapshotInfo& info, std::string_view token, bool degraded) {
  return absl::StrCat(info.id, "/", ToAbsl(token), degraded ? "!" : "");
}

std::vector<BackendFactory> AllBackends() {
  const auto leveldb = [](LevelDbShape shape) {
    return [shape] { return std::make_unique<LevelDbBackend>(shape); };
  };
  return {
      {"Memory", [] { return std::make_unique<MemoryBackend>(); }},
      {"LevelDb", leveldb({})},
      {"LevelDbInChunks", leveldb({.row_cache_bytes = 0, .max_batch_bytes = kTinyBatchBytes})},
      {"LevelDbCompacted", leveldb({.compact_always = true})},
  };
}

std::vector<BackendFactory> BackendsWith(Feature feature) {
  std::vector<BackendFactory> backends;
  for (BackendFactory& backend : AllBackends()) {
    if (backend.make()->Has(feature)) backends.push_back(std::move(backend));
  }
  return backends;
}

}  // namespace tidemark::state
