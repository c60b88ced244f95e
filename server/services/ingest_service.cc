#include "server/services/ingest_service.h"

#include "common/error.h"
#include "server/read_requirement.h"
#include "server/services/convert.h"
#include "server/services/listing.h"

namespace tidemark::services {

void IngestService::Bind(ServiceBinder& binder) {
  binder.Unary("ListSources", this, &IngestService::ListSources);
  binder.Unary("GetSource", this, &IngestService::GetSource);
  // A source may have to write down that it is paused, and wait for its thread.
  binder.Unary("PauseSource", this, &IngestService::PauseSource, RunOn::kExecutor);
  binder.Unary("ResumeSource", this, &IngestService::ResumeSource, RunOn::kExecutor);
}

absl::Status IngestService::ListSources(const v1::ListSourcesRequest& request, CallContext& context,
                                        v1::ListSourcesResponse* response) {
  TIDEMARK_ASSIGN_OR_RETURN(
      *response->mutable_next_page_token(),
      ListPage(
          sources_.all(), [](const auto& source) { return source->name(); }, request.page_size(),
          request.page_token(), ScopeOf(context, ""), page_tokens_,
          [&](const auto& source) { Fill(*source, response->add_sources()); }));
  return absl::OkStatus();
}

absl::Status IngestService::GetSource(const v1::GetSourceRequest& request, CallContext&,
                                      v1::GetSourceResponse* response) {
  TIDEMARK_ASSIGN_OR_RETURN(const ingest::Source* source, Find(request.name()));
  Fill(*source, response->mutable_source());
  return absl::OkStatus();
}

absl::Status IngestService::PauseSource(const v1::PauseSourceRequest& request, CallContext&,
                                        v1::PauseSourceResponse* response) {
  TIDEMARK_ASSIGN_OR_RETURN(ingest::Source * source, Find(request.name()));
  TIDEMARK_RETURN_IF_ERROR(source->Pause());
  Fill(*source, response->mutable_source());
  return absl::OkStatus();
}

absl::Status IngestService::ResumeSource(const v1::ResumeSourceRequest& request, CallContext&,
                                         v1::ResumeSourceResponse* response) {
  TIDEMARK_ASSIGN_OR_RETURN(ingest::Source * source, Find(request.name()));
  TIDEMARK_RETURN_IF_ERROR(source->Resume());
  Fill(*source, response->mutable_source());
  return absl::OkStatus();
}

absl::StatusOr<ingest::Source*> IngestService::Find(const std::string& name) const {
  if (name.empty()) return FieldInvalid("name", "is required: the name of a source.");
  ingest::Source* source = sources_.Find(name);
  if (source == nullptr) return SourceNotFound(sources_, name);
  return source;
}

void IngestService::Fill(const ingest::Source& source, v1::Source* out) const {
  ToSource(source.Status(), catalog_, clock_.Now(), out);
}

}  // namespace tidemark::services
