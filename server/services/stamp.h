// The stamp that answers carry: which snapshot they were read at.
#ifndef TIDEMARK_SERVER_SERVICES_STAMP_H_
#define TIDEMARK_SERVER_SERVICES_STAMP_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ingest/source.h"
#include "server/read_point.h"
#include "storage/state/state_reader.h"
#include "storage/tables/catalog.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}

namespace tidemark::v1 {
class SourceStatus;
}

namespace tidemark::services {

// Wire bytes of a SnapshotStamp without sources: what StateOptions::stamp_encoder wants.
std::string EncodeStamp(const state::SnapshotInfo& info, std::string_view token, bool degraded);

// The stamp of one call, made from its ReadView only.
class Stamp {
 public:
  // With the sources of the view, when it has some. DATA_DAMAGED when the snapshot's record cannot
  // be read.
  static absl::StatusOr<Stamp> Of(const ReadView& view,
                                  std::span<const tables::Table* const> tables,
                                  const state::StateReader& reader,
                                  const ingest::SourceSet& sources, absl::Time now);

  // Wire bytes of the SnapshotStamp.
  std::string_view wire() const { return publication_ ? *shared_ : std::string_view(own_); }
  std::string_view token() const;

 private:
  // The publication's stamp, serialised once for everybody, or one made for this call.
  state::PublicationPtr publication_;
  const std::string* shared_ = nullptr;
  std::string own_;
};

// Adds the sources of the view: positions are those of the snapshot that `info` describes, state
// and times are given at the newest snapshot only.
void FillSources(const ReadView& view, const state::SnapshotInfo& info,
                 const ingest::SourceSet& sources, absl::Time now,
                 google::protobuf::RepeatedPtrField<v1::SourceStatus>* out);

// Whether one of the tables was degraded at the snapshot that `info` describes.
bool IsDegraded(const state::SnapshotInfo& info, std::span<const tables::Table* const> tables);

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_STAMP_H_
