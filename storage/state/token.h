// Snapshot tokens: opaque text that names a snapshot of one store (promise S7).
//
// A token holds a format version, the store's incarnation, the snapshot id and a checksum, as
// URL-safe text without padding, at most limits::kMaxTokenBytes long (docs/storage_format.md).
#ifndef TIDEMARK_STORAGE_STATE_TOKEN_H_
#define TIDEMARK_STORAGE_STATE_TOKEN_H_

#include <array>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/state/types.h"

namespace tidemark::state {

// 16 random bytes given to a store when it is created or restored.
using Incarnation = std::array<uint8_t, 16>;

struct SnapshotToken {
  Incarnation incarnation{};
  SnapshotId snapshot = kNoSnapshot;
};

std::string EncodeToken(const SnapshotToken& token);

// TOKEN_MALFORMED for anything EncodeToken does not write: wrong length, alphabet, version or
// checksum, snapshot 0. Says nothing about whether the snapshot exists.
absl::StatusOr<SnapshotToken> DecodeToken(std::string_view text);

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_TOKEN_H_
