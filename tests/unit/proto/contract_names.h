// The names that callers outside this repository use. Written out by hand, so that a renamed
// method, field or enum value fails a test before any release has frozen it.
#ifndef TIDEMARK_TESTS_UNIT_PROTO_CONTRACT_NAMES_H_
#define TIDEMARK_TESTS_UNIT_PROTO_CONTRACT_NAMES_H_

#include <string_view>

namespace tidemark {

// A service and its methods, a message and its fields, or an enum and its values without prefix;
// names are separated by single spaces.
struct Names {
  std::string_view of;
  std::string_view names;
};

inline constexpr Names kMethods[] = {
    {"StateService",
     "GetRow BatchGetRows ScanRows GetRowHistory ExplainRow WatchChanges GetSnapshot ListSnapshots "
     "ListTables GetTable"},
    {"TagService", "CreateTag GetTag ListTags DeleteTag ListPins"},
    {"IngestService",
     "StreamEvents ListSources GetSource PauseSource ResumeSource ListDeadLetters RetryDeadLetter "
     "SkipDeadLetter"},
    {"RunService", "CreateRun GetRun ListRuns EndRun"},
    {"ToolCallService",
     "BeginToolCall FinishToolCall ExtendToolCall ResolveToolCall GetToolCall ListToolCalls "
     "ListTools"},
    {"ApprovalService",
     "RequestApproval EditApproval ClaimApprovals ExtendClaim ReleaseClaim DecideApproval "
     "WithdrawApproval ResolveApproval RequeueApproval GetApproval ListApprovals WatchApprovals"},
    {"BudgetService",
     "CreateBudget UpdateBudget GetBudget ListBudgets Spend Refund Reserve Settle "
     "ReleaseReservation"},
    {"CheckpointService",
     "AcquireSession CommitStep GetCheckpoint ListCheckpoints ForkSession PruneSession "
     "DeleteSession"},
    {"WorkingSetService", "PutDocument GetDocument ListDocuments DeleteDocument"},
    {"MemoryService",
     "PutMemory GetMemory SearchMemories ListMemories SupersedeMemory EraseMemories"},
    {"DecisionService", "GetDecisionSpec ListDecisionSpecs"},
    {"AdminService", "GetStatus BackupState ListPrincipals"},
};

inline constexpr Names kStreaming[] = {
    {"client", "StreamEvents"},
    {"server", "BackupState StreamEvents WatchApprovals WatchChanges"},
};

inline constexpr Names kFields[] = {
    {"Value",
     "null_value bool_value int_value double_value string_value bytes_value decimal_value "
     "timestamp_value date_value time_value json_value list_value"},
    {"ListValue", "values"},
    {"Row", "columns"},
    {"RowRef", "table key columns"},
    {"Consistency", "latest at_least exact tag as_of max_staleness source_recency at_position"},
    {"SourceRecency", "sources"},
    {"SourcePosition", "source position"},
    {"SnapshotStamp", "token snapshot_id commit_time degraded sources"},
    {"SourceStatus",
     "source state atomicity position last_event_time last_applied_time fresh_as_of lag detail"},
    {"GetRowRequest", "table key columns consistency include_sources decision"},
    {"GetRowResponse", "row row_version read_at"},
    {"BatchGetRowsRequest", "refs consistency include_sources decision"},
    {"BatchGetRowsResponse", "results read_at"},
    {"RowResult", "row row_version"},
    {"ScanRowsRequest", "table key_prefix columns page_size page_token consistency decision"},
    {"ScanRowsResponse", "rows next_page_token read_at"},
    {"KeyedRow", "key row row_version"},
    {"GetRowHistoryRequest", "table key page_size page_token"},
    {"GetRowHistoryResponse", "versions complete"},
    {"RowVersion", "snapshot_id commit_time op row"},
    {"ExplainRowRequest", "table key consistency"},
    {"ExplainRowResponse", "columns groups read_at"},
    {"ColumnOrigin", "column value group source position event_time sequence"},
    {"WatchChangesRequest", "tables latest earliest after include_before"},
    {"WatchedTable", "table key_prefix lookups"},
    {"WatchChangesResponse", "changes at fragment checkpoint"},
    {"Change", "table key op before after lookups"},
    {"GetSnapshotRequest", "at earliest"},
    {"GetSnapshotResponse", "snapshot"},
    {"Snapshot", "token snapshot_id commit_time sources"},
    {"ListSnapshotsResponse", "snapshots next_page_token"},
    {"ListTablesResponse", "tables next_page_token"},
    {"GetTableResponse", "table"},
    {"CreateTagRequest", "name token ttl reason"},
    {"CreateTagResponse", "tag"},
    {"Tag", "name token snapshot_id create_time expire_time owner reason"},
    {"ListTagsResponse", "tags next_page_token"},
    {"ListPinsResponse", "pins next_page_token"},
    {"Pin", "kind id snapshot_id owner reason expire_time"},
    {"StreamEventsRequest", "open batch"},
    {"Open", "source epoch"},
    {"Batch", "sequence events more_to_come commit_time"},
    {"StreamEventsResponse", "opened ack"},
    {"Opened", "last_sequence relations"},
    {"Ack", "sequence token"},
    {"Event", "relation op key before after event_time sequence"},
    {"ListSourcesResponse", "sources next_page_token"},
    {"ListDeadLettersResponse", "dead_letters next_page_token"},
    {"Run", "run_id agent state create_time end_time"},
    {"BeginToolCallRequest",
     "run_id session_id step call_index tool idempotency_key args lease on_in_flight read_token "
     "approval_id reservation_id"},
    {"BeginToolCallResponse", "outcome call lease_token lease_expire_time"},
    {"ToolCall",
     "tool idempotency_key fingerprint run_id session_id step args state attempt result error "
     "read_token approval_id"},
    {"FinishToolCallRequest",
     "tool idempotency_key lease_token success final_error retryable_error content_type"},
    {"ExtendToolCallRequest", "tool idempotency_key lease_token lease"},
    {"ResolveToolCallRequest", "tool idempotency_key resolution result reason"},
    {"ListToolCallsResponse", "tool_calls next_page_token"},
    {"RequestApprovalRequest",
     "request_id action args reasoning decision evidence_token evidence run_id expire_in priority "
     "max_attempts"},
    {"EvidenceRow", "table key row_version"},
    {"RequestApprovalResponse", "approval existing"},
    {"Approval",
     "approval_id version action args args_hash reasoning decision spec_hash state requested_by "
     "run_id evidence votes claim result confirmation trail"},
    {"Confirmation", "token by"},
    {"ClaimApprovalsRequest", "max_count lease wait actions"},
    {"ClaimApprovalsResponse", "claims"},
    {"ClaimedApproval", "approval lease_token lease_expire_time"},
    {"ExtendClaimRequest", "approval_id lease_token lease"},
    {"ReleaseClaimRequest", "approval_id lease_token"},
    {"EditApprovalRequest", "approval_id version args reasoning evidence_token evidence"},
    {"DecideApprovalRequest", "approval_id args_hash lease_token approve reject comment"},
    {"WithdrawApprovalRequest", "approval_id reason"},
    {"RequeueApprovalRequest", "approval_id reason"},
    {"ResolveApprovalRequest", "approval_id resolution reason"},
    {"ListApprovalsResponse", "approvals next_page_token"},
    {"Budget", "budget_id scope subject unit period limit spent reserved overrun reset_time"},
    {"CreateBudgetRequest", "budget"},
    {"UpdateBudgetRequest", "budget_id limit"},
    {"GetBudgetRequest", "budget_id"},
    {"SpendRequest", "request_id budget_id amount"},
    {"SpendResponse", "budget"},
    {"RefundRequest", "request_id budget_id amount reason"},
    {"ReserveRequest", "reservation_id amounts lease on_expiry allow_partial"},
    {"ReserveResponse", "reservation"},
    {"Amount", "budget_id amount"},
    {"SettleRequest", "reservation_id actual"},
    {"ReleaseReservationRequest", "reservation_id"},
    {"AcquireSessionRequest", "session_id writer ttl"},
    {"AcquireSessionResponse", "epoch latest"},
    {"CommitStepRequest",
     "session_id namespace epoch expected_step request_id state metadata read_token tool_calls "
     "settlements documents approvals"},
    {"CommitStepResponse", "step checkpoint_id approvals"},
    {"Checkpoint",
     "session_id namespace step checkpoint_id parent_id state metadata read_token writer "
     "create_time"},
    {"GetCheckpointRequest", "session_id namespace step"},
    {"ListCheckpointsRequest", "session_id namespace page_size page_token"},
    {"ListCheckpointsResponse", "checkpoints next_page_token"},
    {"ForkSessionRequest", "session_id step new_session_id"},
    {"PruneSessionRequest", "session_id keep_last older_than"},
    {"DeleteSessionRequest", "session_id"},
    {"PutDocumentRequest", "run_id name content content_type expected_version any ttl keep"},
    {"GetDocumentRequest", "run_id name"},
    {"Document", "run_id name content content_type version expire_time"},
    {"PutMemoryRequest", "memory expected_version request_id"},
    {"SupersedeMemoryRequest", "subject memory_id expected_version replacement reason"},
    {"SearchMemoriesRequest", "subject query_text query_embedding filter limit"},
    {"SearchMemoriesResponse", "results exhausted"},
    {"MemoryResult", "memory score"},
    {"EraseMemoriesRequest", "subject reason"},
    {"EraseMemoriesResponse", "receipt"},
    {"EraseReceipt", "receipt_id erased not_reached"},
    {"Memory", "subject memory_id text attributes embedding provenance version superseded_by"},
    {"ListDecisionSpecsResponse", "decision_specs next_page_token"},
};

inline constexpr Names kEnumValues[] = {
    {"Op", "INSERT UPDATE DELETE TRUNCATE"},
    {"SourceState", "STARTING COPYING STREAMING PAUSED RETRYING GAP FENCED FAILED"},
    {"Atomicity", "TRANSACTION EVENT"},
    {"PinKind", "TAG APPROVAL CURSOR CONSUMER REPLAY"},
    {"RunState", "ACTIVE ENDED"},
    {"Outcome", "EXECUTE REPLAY IN_PROGRESS UNKNOWN"},
    {"OnInFlight", "RETURN WAIT"},
    {"ToolCallState", "RUNNING SUCCEEDED FAILED RETRYABLE UNKNOWN NOT_EXECUTED PRUNED"},
    {"Resolution", "SUCCEEDED NOT_EXECUTED EXECUTED"},
    {"ApprovalState",
     "PENDING APPROVED DISPATCHING EXECUTED CONFIRMED REJECTED EXPIRED WITHDRAWN STALE FAILED "
     "UNKNOWN DEAD"},
    {"BudgetScope", "RUN AGENT TENANT"},
    {"OnExpiry", "CHARGE FREE HOLD"},
    {"PrincipalKind", "HUMAN AGENT SERVICE"},
    {"TableState", "LOADING READY DEGRADED"},
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_UNIT_PROTO_CONTRACT_NAMES_H_
