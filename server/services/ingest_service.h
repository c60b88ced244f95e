// IngestService: the sources, as operators see and steer them.
#ifndef TIDEMARK_SERVER_SERVICES_INGEST_SERVICE_H_
#define TIDEMARK_SERVER_SERVICES_INGEST_SERVICE_H_

#include "absl/status/status.h"
#include "common/clock.h"
#include "server/call_context.h"
#include "server/ingest/source.h"
#include "server/service_binder.h"
#include "server/services/page_token.h"
#include "storage/state/token.h"
#include "storage/tables/catalog.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::services {

// Thread-safe. The references outlive it.
class IngestService {
 public:
  // `incarnation`: of the state store, for page tokens.
  IngestService(const ingest::SourceSet& sources, const tables::Catalog& catalog,
                const state::Incarnation& incarnation, const Clock& clock)
      : sources_(sources), catalog_(catalog), clock_(clock), page_tokens_(incarnation) {}

  void Bind(ServiceBinder& binder);

  absl::Status ListSources(const v1::ListSourcesRequest& request, CallContext& context,
                           v1::ListSourcesResponse* response);
  absl::Status GetSource(const v1::GetSourceRequest& request, CallContext& context,
                         v1::GetSourceResponse* response);
  absl::Status PauseSource(const v1::PauseSourceRequest& request, CallContext& context,
                           v1::PauseSourceResponse* response);
  absl::Status ResumeSource(const v1::ResumeSourceRequest& request, CallContext& context,
                            v1::ResumeSourceResponse* response);

 private:
  // FIELD_INVALID for an empty name, SOURCE_NOT_FOUND.
  absl::StatusOr<ingest::Source*> Find(const std::string& name) const;
  void Fill(const ingest::Source& source, v1::Source* out) const;

  const ingest::SourceSet& sources_;
  const tables::Catalog& catalog_;
  const Clock& clock_;
  const PageTokenCodec page_tokens_;
};

}  // namespace tidemark::services

#endif  // TIDEMARK_SERVER_SERVICES_INGEST_SERVICE_H_
