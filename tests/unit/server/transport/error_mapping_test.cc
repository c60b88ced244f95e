#include "server/transport/error_mapping.h"

#include <google/protobuf/descriptor.h>

#include "common/error.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "tidemark/v1/error_reason.pb.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

google::rpc::Status Parse(const PublicError& error) {
  google::rpc::Status status;
  EXPECT_TRUE(status.ParseFromString(error.details));
  return status;
}

// The detail of type Detail; a default one, and a failure, when there is none.
template <typename Detail>
Detail Get(const google::rpc::Status& status) {
  Detail detail;
  for (const auto& any : status.details()) {
    if (any.UnpackTo(&detail)) return detail;
  }
  ADD_FAILURE() << "no " << Detail::descriptor()->name() << " in " << status.DebugString();
  return detail;
}

template <typename Detail>
bool Has(const google::rpc::Status& status) {
  for (const auto& any : status.details()) {
    if (any.Is<Detail>()) return true;
  }
  return false;
}

TEST(ErrorMappingTest, EveryReasonArrivesWithItsCodeDomainAndMetadata) {
  for (Reason reason : AllReasons()) {
    SCOPED_TRACE(ReasonName(reason));
    const PublicError error =
        MapError(MakeError(reason, "What happened.", {{"table", "orders"}}), "r-1");
    EXPECT_EQ(error.code, CodeOf(reason));
    EXPECT_EQ(error.message, "What happened.");
    EXPECT_FALSE(error.sanitised);
    const google::rpc::Status status = Parse(error);
    EXPECT_EQ(status.code(), static_cast<int>(CodeOf(reason)));
    EXPECT_EQ(status.message(), "What happened.");
    const auto info = Get<google::rpc::ErrorInfo>(status);
    EXPECT_EQ(info.reason(), ReasonName(reason));
    EXPECT_EQ(info.domain(), "tidemark.v1");
    EXPECT_EQ(info.metadata().at("table"), "orders");
    EXPECT_EQ(Has<google::rpc::BadRequest>(status),
              CodeOf(reason) == absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(Has<google::rpc::QuotaFailure>(status), reason == Reason::kBudgetExceeded);
    EXPECT_FALSE(Has<google::rpc::RetryInfo>(status));
  }
}

TEST(ErrorMappingTest, TheReasonsOfTheCodeAreThoseOfTheContract) {
  const auto* reasons = v1::ErrorReason_descriptor();
  size_t named = 0;
  for (int i = 0; i < reasons->value_count(); ++i) {
    const std::string name = reasons->value(i)->name().substr(strlen("ERROR_REASON_"));
    if (name == "UNSPECIFIED") continue;
    bool known = false;
    for (Reason reason : AllReasons()) known = known || ReasonName(reason) == name;
    EXPECT_TRUE(known) << name << " has no row in the table of common/error.cc";
    ++named;
  }
  EXPECT_EQ(named, AllReasons().size());
}

TEST(ErrorMappingTest, AnInvalidFieldIsNamedInBadRequest) {
  const PublicError error = MapError(FieldInvalid("consistency.exact", "is empty"), "");
  const auto bad = Get<google::rpc::BadRequest>(Parse(error));
  ASSERT_EQ(bad.field_violations_size(), 1);
  EXPECT_EQ(bad.field_violations(0).field(), "consistency.exact");
  EXPECT_EQ(bad.field_violations(0).description(), "is empty");
}

TEST(ErrorMappingTest, ADelayBecomesRetryInfo) {
  const PublicError error =
      MapError(MakeError(Reason::kOverloaded, "Full.", {}, absl::Milliseconds(1500)), "");
  const auto retry = Get<google::rpc::RetryInfo>(Parse(error));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

TEST(ErrorMappingTest, AnExceededBudgetIsNamedInQuotaFailure) {
  const PublicError error =
      MapError(MakeError(Reason::kBudgetExceeded, "No.", {{"budget_id", "b-1"}}), "");
  const auto quota = Get<google::rpc::QuotaFailure>(Parse(error));
  ASSERT_EQ(quota.violations_size(), 1);
  EXPECT_EQ(quota.violations(0).subject(), "b-1");
}

TEST(ErrorMappingTest, AnErrorWithoutAReasonTellsNothingButItsRequestId) {
  for (const absl::Status& status :
       {absl::InternalError("/var/lib/tidemark: key 0x17"), absl::UnknownError("secret"),
        absl::FailedPreconditionError("secret"), absl::ResourceExhaustedError("secret")}) {
    const PublicError error = MapError(status, "r-7");
    EXPECT_EQ(error.code, absl::StatusCode::kInternal);
    EXPECT_TRUE(error.sanitised);
    EXPECT_THAT(error.message, HasSubstr("r-7"));
    EXPECT_THAT(error.message + error.details, Not(HasSubstr("secret")));
    EXPECT_THAT(error.message + error.details, Not(HasSubstr("/var/lib")));
    const auto info = Get<google::rpc::ErrorInfo>(Parse(error));
    EXPECT_EQ(info.reason(), "INTERNAL");
    EXPECT_EQ(info.metadata().at("request_id"), "r-7");
  }
}

TEST(ErrorMappingTest, CancelledAndDeadlineAreAsGrpcSaysThem) {
  const PublicError cancelled = MapError(absl::CancelledError("x"), "");
  EXPECT_EQ(cancelled.code, absl::StatusCode::kCancelled);
  EXPECT_EQ(cancelled.details, "");
  const PublicError late = MapError(absl::DeadlineExceededError("x"), "");
  EXPECT_EQ(late.code, absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(late.details, "");
  EXPECT_EQ(MapError(absl::OkStatus(), "").code, absl::StatusCode::kOk);
}

TEST(ErrorMappingTest, DetailsStayBoundedAndValidUtf8WhateverTheyAreMadeOf) {
  ErrorMetadata metadata = {{"field", std::string(5000, '\xff')}, {"problem", "p"}};
  for (int i = 0; i < 100; ++i) {
    metadata.emplace_back("key" + std::to_string(i) + std::string(300, 'k'),
                          std::string(20'000, static_cast<char>(i)));
  }
  const PublicError error =
      MapError(MakeError(Reason::kFieldInvalid, std::string(100'000, '\xc3'), metadata), "");
  EXPECT_LE(error.details.size(), limits::kMaxErrorDetailBytes);
  EXPECT_LE(error.message.size(), 512u);
  const google::rpc::Status status = Parse(error);
  EXPECT_EQ(Get<google::rpc::ErrorInfo>(status).reason(), "FIELD_INVALID");
  EXPECT_EQ(status.message(), std::string(512, '?'));
}

}  // namespace
}  // namespace tidemark
