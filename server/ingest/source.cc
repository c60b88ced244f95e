#include "server/ingest/source.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace tidemark::ingest {

std::string_view SourceStateName(SourceState state) {
  switch (state) {
    case SourceState::kStarting:
      return "STARTING";
    case SourceState::kCopying:
      return "COPYING";
    case SourceState::kStreaming:
      return "STREAMING";
    case SourceState::kPaused:
      return "PAUSED";
    case SourceState::kRetrying:
      return "RETRYING";
    case SourceState::kGap:
      return "GAP";
    case SourceState::kFenced:
      return "FENCED";
    case SourceState::kFailed:
      return "FAILED";
  }
  TIDEMARK_CHECK(false && "a SourceState without a name");
  return {};
}

SourceSet::SourceSet(std::vector<std::unique_ptr<Source>> sources) : sources_(std::move(sources)) {
  std::sort(sources_.begin(), sources_.end(),
            [](const auto& a, const auto& b) { return a->name() < b->name(); });
  for (size_t i = 1; i < sources_.size(); ++i) {
    TIDEMARK_CHECK(sources_[i - 1]->name() != sources_[i]->name());
  }
}

Source* SourceSet::Find(std::string_view name) const {
  const auto found = std::lower_bound(
      sources_.begin(), sources_.end(), name,
      [](const std::unique_ptr<Source>& source, std::string_view n) { return source->name() < n; });
  return found != sources_.end() && (*found)->name() == name ? found->get() : nullptr;
}

void SourceSet::StartAll() {
  for (const auto& source : sources_) source->Start();
}

void SourceSet::StopAll() {
  for (const auto& source : sources_) source->Stop();
}

}  // namespace tidemark::ingest
