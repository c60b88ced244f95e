#include "storage/state/engine/committer.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {

Committer::~Committer() {
  MutexLock lock(mutex_);
  while (busy()) done_.Wait(mutex_);
}

void Committer::Start(SealedBatch batch) {
  auto next = std::make_unique<SealedBatch>(std::move(batch));
  {
    MutexLock lock(mutex_);
    TIDEMARK_CHECK(!busy() && !outcome_.has_value());
    next_ = std::move(next);
    busy_.store(true, std::memory_order_release);
  }
  worker_.Trigger();
}

absl::Status Committer::Finish() {
  MutexLock lock(mutex_);
  while (busy()) done_.Wait(mutex_);
  TIDEMARK_CHECK(outcome_.has_value());
  return *std::exchange(outcome_, std::nullopt);
}

void Committer::Run() {
  std::unique_ptr<SealedBatch> batch;
  {
    MutexLock lock(mutex_);
    if (next_ == nullptr) return;
    batch = std::move(next_);
  }
  absl::Status outcome = Commit(*batch);
  {
    MutexLock lock(mutex_);
    outcome_ = std::move(outcome);
    busy_.store(false, std::memory_order_release);
    done_.NotifyAll();
  }
  // What it replaces is freed while the writer goes on.
  written_ = std::move(batch);
}

absl::Status Committer::Commit(SealedBatch& batch) {
  if (batch.has_writes) {
    for (const auto& [key, value] : batch.staged->entries()) {
      if (value.has_value()) {
        batch.records.Put(ToSlice(key), *value);
      } else {
        batch.records.Delete(ToSlice(key));
      }
    }
    TIDEMARK_RETURN_IF_ERROR(Write(&batch.records));
    batch.records.Clear();
  }
  UpdateRowCache(batch);
  Publish(std::move(batch.publication));
  return absl::OkStatus();
}

absl::Status Committer::Write(leveldb::WriteBatch* batch) {
  const leveldb::Status status = engine_.database->Write(batch);
  if (!status.ok()) {
    return MakeError(Reason::kStoreReadOnly,
                     absl::StrCat("The state store takes no more writes, since one failed: ",
                                  status.ToString(), ". What is published can still be read."),
                     {{"cause", status.ToString()}});
  }
  engine_.counters.batches.fetch_add(1, std::memory_order_relaxed);
  engine_.counters.syncs.fetch_add(1, std::memory_order_relaxed);
  engine_.counters.batch_bytes.fetch_add(batch->ApproximateSize(), std::memory_order_relaxed);
  return absl::OkStatus();
}

void Committer::UpdateRowCache(const SealedBatch& batch) {
  const uint64_t sequence = batch.publication.sequence;
  if (batch.clear_row_cache) {
    engine_.row_cache.Clear(sequence);
    return;
  }
  for (const auto& [current_key, value] : batch.staged->entries()) {
    if (current_key.front() != static_cast<char>(Prefix::kCurrent)) continue;
    RowToCache row;
    if (value.has_value()) {
      row.value = *value;
      TIDEMARK_CHECK(ParseVersion(row.value, kNoSnapshot, &row.version));
    }
    engine_.row_cache.Update(current_key, value.has_value() ? &row : nullptr, sequence);
  }
}

void Committer::Publish(LevelDbPublication::Parts parts) {
  const std::string token = EncodeToken({parts.identity->incarnation, parts.info.id});
  parts.stamp = engine_.stamp_encoder(parts.info, token, false);
  parts.degraded_stamp = engine_.stamp_encoder(parts.info, token, true);
  engine_.board.Publish(
      std::make_shared<const LevelDbPublication>(std::move(parts), engine_.database));
}

}  // namespace tidemark::state::engine
