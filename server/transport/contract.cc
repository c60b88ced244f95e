#include "server/transport/contract.h"

#include <google/protobuf/descriptor.h>

#include "grpc/health/v1/health.pb.h"
#include "tidemark/v1/admin_service.pb.h"
#include "tidemark/v1/approval_service.pb.h"
#include "tidemark/v1/budget_service.pb.h"
#include "tidemark/v1/checkpoint_service.pb.h"
#include "tidemark/v1/decision_service.pb.h"
#include "tidemark/v1/error_reason.pb.h"
#include "tidemark/v1/ingest_service.pb.h"
#include "tidemark/v1/memory_service.pb.h"
#include "tidemark/v1/run_service.pb.h"
#include "tidemark/v1/state_service.pb.h"
#include "tidemark/v1/tag_service.pb.h"
#include "tidemark/v1/tool_call_service.pb.h"
#include "tidemark/v1/working_set_service.pb.h"

namespace tidemark {

std::vector<const google::protobuf::ServiceDescriptor*> ContractServices() {
  // Served by the library and no part of the contract, but reflection describes only what is
  // linked.
  grpc::health::v1::HealthCheckRequest::descriptor();
  const google::protobuf::FileDescriptor* files[] = {
      v1::GetRowRequest::descriptor()->file(),
      v1::CreateTagRequest::descriptor()->file(),
      v1::StreamEventsRequest::descriptor()->file(),
      v1::CreateRunRequest::descriptor()->file(),
      v1::BeginToolCallRequest::descriptor()->file(),
      v1::RequestApprovalRequest::descriptor()->file(),
      v1::CreateBudgetRequest::descriptor()->file(),
      v1::AcquireSessionRequest::descriptor()->file(),
      v1::PutDocumentRequest::descriptor()->file(),
      v1::PutMemoryRequest::descriptor()->file(),
      v1::GetDecisionSpecRequest::descriptor()->file(),
      v1::GetStatusRequest::descriptor()->file(),
      v1::ErrorReason_descriptor()->file(),
  };
  std::vector<const google::protobuf::ServiceDescriptor*> services;
  for (const auto* file : files) {
    for (int i = 0; i < file->service_count(); ++i) services.push_back(file->service(i));
  }
  return services;
}

}  // namespace tidemark
