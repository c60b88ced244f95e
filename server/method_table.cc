#include "server/method_table.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr Roles kReads = {Role::kReader, Role::kAuditor};
constexpr Roles kReadsTags = {Role::kReader, Role::kOperator, Role::kAuditor};
constexpr Roles kLooksAfter = {Role::kOperator, Role::kAuditor};
constexpr Roles kOperates = {Role::kOperator};
constexpr Roles kSends = {Role::kIngest};
constexpr Roles kActs = {Role::kAgent};
constexpr Roles kReadsActs = {Role::kAgent, Role::kOperator, Role::kAuditor};
constexpr Roles kReadsApprovals = {Role::kAgent, Role::kApprover, Role::kOperator, Role::kAuditor};
constexpr Roles kDecides = {Role::kApprover};
constexpr Roles kErases = {Role::kAgent, Role::kOperator};
constexpr Roles kReadsSpecs = {Role::kReader, Role::kApprover, Role::kOperator, Role::kAuditor};

constexpr bool kNow = true;
constexpr bool kLater = false;

constexpr MethodShape kUnary = MethodShape::kUnary;
constexpr MethodShape kServerStream = MethodShape::kServerStream;
constexpr MethodShape kBidiStream = MethodShape::kBidiStream;

}  // namespace

const std::vector<Method>& AllMethods() {
  static const std::vector<Method> methods = {
      {"StateService", "GetRow", kReads, kUnary, kNow},
      {"StateService", "BatchGetRows", kReads, kUnary, kNow},
      {"StateService", "ScanRows", kReads, kUnary, kNow},
      {"StateService", "GetRowHistory", kReads, kUnary, kLater},
      {"StateService", "ExplainRow", kReads, kUnary, kLater},
      {"StateService", "WatchChanges", kReads, kServerStream, kNow},
      {"StateService", "GetSnapshot", kReads, kUnary, kNow},
      {"StateService", "ListSnapshots", kReads, kUnary, kLater},
      {"StateService", "ListTables", kReads, kUnary, kNow},
      {"StateService", "GetTable", kReads, kUnary, kNow},

      {"TagService", "CreateTag", kOperates, kUnary, kLater},
      {"TagService", "GetTag", kReadsTags, kUnary, kLater},
      {"TagService", "ListTags", kReadsTags, kUnary, kLater},
      {"TagService", "DeleteTag", kOperates, kUnary, kLater},
      {"TagService", "ListPins", kReadsTags, kUnary, kLater},

      {"IngestService", "StreamEvents", kSends, kBidiStream, kLater},
      {"IngestService", "ListSources", kLooksAfter, kUnary, kNow},
      {"IngestService", "GetSource", kLooksAfter, kUnary, kNow},
      {"IngestService", "PauseSource", kOperates, kUnary, kNow},
      {"IngestService", "ResumeSource", kOperates, kUnary, kNow},
      {"IngestService", "ListDeadLetters", kLooksAfter, kUnary, kLater},
      {"IngestService", "RetryDeadLetter", kOperates, kUnary, kLater},
      {"IngestService", "SkipDeadLetter", kOperates, kUnary, kLater},

      {"RunService", "CreateRun", kActs, kUnary, kLater},
      {"RunService", "GetRun", kReadsActs, kUnary, kLater},
      {"RunService", "ListRuns", kReadsActs, kUnary, kLater},
      {"RunService", "EndRun", kActs, kUnary, kLater},

      {"ToolCallService", "BeginToolCall", kActs, kUnary, kLater},
      {"ToolCallService", "FinishToolCall", kActs, kUnary, kLater},
      {"ToolCallService", "ExtendToolCall", kActs, kUnary, kLater},
      {"ToolCallService", "ResolveToolCall", kOperates, kUnary, kLater},
      {"ToolCallService", "GetToolCall", kReadsActs, kUnary, kLater},
      {"ToolCallService", "ListToolCalls", kReadsActs, kUnary, kLater},
      {"ToolCallService", "ListTools", kReadsActs, kUnary, kLater},

      {"ApprovalService", "RequestApproval", kActs, kUnary, kLater},
      {"ApprovalService", "EditApproval", kActs, kUnary, kLater},
      {"ApprovalService", "ClaimApprovals", kDecides, kUnary, kLater},
      {"ApprovalService", "ExtendClaim", kDecides, kUnary, kLater},
      {"ApprovalService", "ReleaseClaim", kDecides, kUnary, kLater},
      {"ApprovalService", "DecideApproval", kDecides, kUnary, kLater},
      {"ApprovalService", "WithdrawApproval", kActs, kUnary, kLater},
      {"ApprovalService", "ResolveApproval", kOperates, kUnary, kLater},
      {"ApprovalService", "RequeueApproval", kOperates, kUnary, kLater},
      {"ApprovalService", "GetApproval", kReadsApprovals, kUnary, kLater},
      {"ApprovalService", "ListApprovals", kReadsApprovals, kUnary, kLater},
      {"ApprovalService", "WatchApprovals", kReadsApprovals, kServerStream, kLater},

      {"BudgetService", "CreateBudget", kOperates, kUnary, kLater},
      {"BudgetService", "UpdateBudget", kOperates, kUnary, kLater},
      {"BudgetService", "GetBudget", kReadsActs, kUnary, kLater},
      {"BudgetService", "ListBudgets", kReadsActs, kUnary, kLater},
      {"BudgetService", "Spend", kActs, kUnary, kLater},
      {"BudgetService", "Refund", kOperates, kUnary, kLater},
      {"BudgetService", "Reserve", kActs, kUnary, kLater},
      {"BudgetService", "Settle", kActs, kUnary, kLater},
      {"BudgetService", "ReleaseReservation", kActs, kUnary, kLater},

      {"CheckpointService", "AcquireSession", kActs, kUnary, kLater},
      {"CheckpointService", "CommitStep", kActs, kUnary, kLater},
      {"CheckpointService", "GetCheckpoint", kReadsActs, kUnary, kLater},
      {"CheckpointService", "ListCheckpoints", kReadsActs, kUnary, kLater},
      {"CheckpointService", "ForkSession", kActs, kUnary, kLater},
      {"CheckpointService", "PruneSession", kActs, kUnary, kLater},
      {"CheckpointService", "DeleteSession", kActs, kUnary, kLater},

      {"WorkingSetService", "PutDocument", kActs, kUnary, kLater},
      {"WorkingSetService", "GetDocument", kReadsActs, kUnary, kLater},
      {"WorkingSetService", "ListDocuments", kReadsActs, kUnary, kLater},
      {"WorkingSetService", "DeleteDocument", kActs, kUnary, kLater},

      {"MemoryService", "PutMemory", kActs, kUnary, kLater},
      {"MemoryService", "GetMemory", kReadsActs, kUnary, kLater},
      {"MemoryService", "SearchMemories", kActs, kUnary, kLater},
      {"MemoryService", "ListMemories", kReadsActs, kUnary, kLater},
      {"MemoryService", "SupersedeMemory", kActs, kUnary, kLater},
      {"MemoryService", "EraseMemories", kErases, kUnary, kLater},

      {"DecisionService", "GetDecisionSpec", kReadsSpecs, kUnary, kLater},
      {"DecisionService", "ListDecisionSpecs", kReadsSpecs, kUnary, kLater},

      {"AdminService", "GetStatus", kLooksAfter, kUnary, kLater},
      {"AdminService", "BackupState", kOperates, kServerStream, kLater},
      {"AdminService", "ListPrincipals", kOperates, kUnary, kLater},
  };
  return methods;
}

std::string Method::FullName() const {
  std::string full = "tidemark.v1.";
  full.append(service).append("/").append(name);
  return full;
}

const Method* FindMethod(std::string_view service, std::string_view name) {
  for (const Method& method : AllMethods()) {
    if (method.service == service && method.name == name) return &method;
  }
  return nullptr;
}

std::vector<std::string_view> AllServices() {
  std::vector<std::string_view> services;
  for (const Method& method : AllMethods()) {
    if (services.empty() || services.back() != method.service) services.push_back(method.service);
  }
  return services;
}

bool ServiceAvailable(std::string_view service) {
  const auto& methods = AllMethods();
  return std::any_of(methods.begin(), methods.end(), [service](const Method& method) {
    return method.service == service && method.available;
  });
}

}  // namespace tidemark
