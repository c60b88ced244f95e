#include "storage/state/engine/incarnation.h"

#include <algorithm>
#include <random>

#include "common/check.h"

namespace tidemark::state::engine {
namespace {

std::string SystemRandom() {
  std::random_device device;
  std::string bytes;
  while (bytes.size() < std::tuple_size_v<Incarnation>) {
    bytes.push_back(static_cast<char>(device()));
  }
  return bytes;
}

}  // namespace

Incarnation NewIncarnation(const RandomBytes& random) {
  const std::string bytes = random ? random() : SystemRandom();
  Incarnation incarnation{};
  TIDEMARK_CHECK(bytes.size() >= incarnation.size());
  std::copy_n(bytes.begin(), incarnation.size(), incarnation.begin());
  return incarnation;
}

}  // namespace tidemark::state::engine
