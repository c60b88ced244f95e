#include "server/services/change_reader.h"

#include <utility>

#include "common/error.h"
#include "common/limits.h"
#include "server/services/change_encoding.h"
#include "server/services/wire.h"
#include "tidemark/v1/state_service.pb.h"

namespace tidemark::services {
namespace {

// A cursor keeps what it can see from being compacted away; a long catching-up takes a new one.
constexpr std::chrono::seconds kMaxCursorAge{1};

constexpr int kChangesField = v1::WatchChangesResponse::kChangesFieldNumber;

}  // namespace

absl::Status ChangeReader::Open() {
  publication_ = reader_.Latest();
  TIDEMARK_ASSIGN_OR_RETURN(cursor_, reader_.Changes(publication_, position_));
  opened_ = std::chrono::steady_clock::now();
  return absl::OkStatus();
}

absl::StatusOr<ChangeReader::Outcome> ChangeReader::Emit(bool fragment, std::string* message) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string stamp,
                            StampAt(reader_, publication_, current_, spec_.tables));
  *message = std::move(changes_);
  changes_.clear();
  AppendEnd({.stamp = stamp, .fragment = fragment, .checkpoint = !fragment}, message);
  fragments_ = fragment;
  if (!fragment) {
    position_ = current_;
    current_ = state::kNoSnapshot;
  }
  return Outcome::kMessage;
}

absl::StatusOr<ChangeReader::Outcome> ChangeReader::Next(size_t max_entries, std::string* message) {
  if (cursor_ == nullptr) TIDEMARK_RETURN_IF_ERROR(Open());
  std::string encoded;
  for (size_t entries = 0;; ++entries) {
    const bool valid = cursor_->Valid();
    if (!valid) TIDEMARK_RETURN_IF_ERROR(cursor_->status());
    if (!valid || cursor_->change().snapshot != current_) {
      if (!changes_.empty()) return Emit(/*fragment=*/false, message);
      position_ = valid ? cursor_->change().snapshot - 1 : publication_->id();
      current_ = state::kNoSnapshot;
      if (!valid) {
        cursor_.reset();
        publication_.reset();
        return Outcome::kEnd;
      }
      if (std::chrono::steady_clock::now() - opened_ > kMaxCursorAge) {
        TIDEMARK_RETURN_IF_ERROR(Open());
        continue;
      }
      current_ = cursor_->change().snapshot;
    }
    if (entries >= max_entries) return Outcome::kPause;
    const state::Change& change = cursor_->change();
    const WatchSpec::Filter* filter = spec_.Match(change.table, change.op, change.key);
    if (filter != nullptr) {
      encoded.clear();
      TIDEMARK_RETURN_IF_ERROR(
          AppendChange(reader_, publication_, *filter->table, change, &encoded));
      if (spec_.include_before) {
        TIDEMARK_RETURN_IF_ERROR(AppendBefore(reader_, publication_, change.table, change.op,
                                              change.key, change.snapshot, &encoded));
      }
      // The cursor stays on the change that does not fit: the next message begins with it.
      if (!changes_.empty() &&
          changes_.size() + FieldSize(encoded.size()) > limits::kMaxPageBytes) {
        return Emit(/*fragment=*/true, message);
      }
      AppendBytes(kChangesField, encoded, &changes_);
    }
    cursor_->Next();
  }
}

}  // namespace tidemark::services
