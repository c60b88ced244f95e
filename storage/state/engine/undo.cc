#include "storage/state/engine/undo.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/error.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {
namespace {

// Nothing below the next chunk is live any more.
void CloseTransaction(StoreState* state) {
  state->open = kNoSnapshot;
  state->undo_begin = state->undo_end = state->undo_cleaned = state->next_chunk;
}

void PutState(const StoreState& state, leveldb::WriteBatch* batch) {
  batch->Put(MetaKey(kStateName), StateValue(state));
}

}  // namespace

absl::Status MakeChunk(const Database& database, const Layer& entries, SnapshotId open,
                       StoreState* state, leveldb::WriteBatch* batch) {
  TIDEMARK_CHECK(state->open == kNoSnapshot || state->open == open);
  TIDEMARK_CHECK(state->open != kNoSnapshot || state->undo_cleaned == state->undo_begin);
  if (state->open == kNoSnapshot) {
    state->undo_cleaned = state->undo_begin = state->undo_end = state->next_chunk;
  }
  const uint64_t chunk = state->next_chunk++;
  std::string before;
  for (const auto& [key, value] : entries.entries()) {
    bool existed = false;
    TIDEMARK_RETURN_IF_ERROR(database.Get(key, &before, &existed));
    if (!existed && !value.has_value()) continue;
    batch->Put(UndoKey(chunk, key), UndoValue(existed ? &before : nullptr));
    if (value.has_value()) {
      batch->Put(ToSlice(key), *value);
    } else {
      batch->Delete(ToSlice(key));
    }
  }
  state->open = open;
  state->undo_end = chunk + 1;
  PutState(*state, batch);
  return absl::OkStatus();
}

absl::Status MakeUndoOfLastChunk(const Database& database, StoreState* state,
                                 leveldb::WriteBatch* batch) {
  TIDEMARK_CHECK(state->open != kNoSnapshot && state->undo_begin < state->undo_end);
  const uint64_t chunk = state->undo_end - 1;
  const std::string prefix = UndoPrefix(chunk);
  const std::unique_ptr<leveldb::Iterator> images = database.NewIterator(/*bulk=*/true);
  for (images->Seek(prefix); images->Valid() && images->key().starts_with(prefix); images->Next()) {
    const std::string_view key = ToView(images->key()).substr(prefix.size());
    bool existed = false;
    std::string_view before;
    if (!ParseUndoValue(ToView(images->value()), &existed, &before)) {
      return DataDamaged(absl::StrCat("a before-image of chunk ", chunk, " does not decode"));
    }
    if (existed) {
      batch->Put(ToSlice(key), ToSlice(before));
    } else {
      batch->Delete(ToSlice(key));
    }
    batch->Delete(images->key());
  }
  TIDEMARK_RETURN_IF_ERROR(IteratorStatus(*images));
  state->undo_end = chunk;
  if (state->undo_end == state->undo_begin) CloseTransaction(state);
  PutState(*state, batch);
  return absl::OkStatus();
}

absl::Status MakeUndoCleaning(const Database& database, StoreState* state,
                              leveldb::WriteBatch* batch) {
  TIDEMARK_CHECK(state->undo_cleaned < state->undo_begin);
  const std::string prefix = UndoPrefix(state->undo_cleaned);
  const std::unique_ptr<leveldb::Iterator> images = database.NewIterator(/*bulk=*/true);
  for (images->Seek(prefix); images->Valid() && images->key().starts_with(prefix); images->Next()) {
    batch->Delete(images->key());
  }
  TIDEMARK_RETURN_IF_ERROR(IteratorStatus(*images));
  ++state->undo_cleaned;
  PutState(*state, batch);
  return absl::OkStatus();
}

}  // namespace tidemark::state::engine
