// Which copy of something a thread uses, where there are several so that threads do not meet.
#ifndef TIDEMARK_STORAGE_STATE_ENGINE_STRIPED_H_
#define TIDEMARK_STORAGE_STATE_ENGINE_STRIPED_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tidemark::state::engine {

// A small number of the calling thread; threads get theirs in turn.
inline size_t ThreadNumber() {
  static std::atomic<size_t> next{0};
  thread_local const size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// A count many threads add to. Thread-safe.
class StripedCounter {
 public:
  void Add(uint64_t n = 1) {
    stripes_[ThreadNumber() % kStripes].count.fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t Total() const {
    uint64_t total = 0;
    for (const Stripe& stripe : stripes_) total += stripe.count.load(std::memory_order_relaxed);
    return total;
  }

 private:
  static constexpr size_t kStripes = 8;
  struct alignas(64) Stripe {
    std::atomic<uint64_t> count{0};
  };
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace tidemark::state::engine

#endif  // TIDEMARK_STORAGE_STATE_ENGINE_STRIPED_H_
