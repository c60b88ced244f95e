#include "examples/credit_desk/decision.h"

#include "absl/strings/str_cat.h"
#include "examples/credit_desk/client.h"
#include "tidemark/v1/value.pb.h"

namespace tidemark::examples {
namespace {

// A customer who never paid gets this much on credit, in minor units.
constexpr int64_t kFirstOrderMinor = 50000;
// More returns than this ask for payment in advance.
constexpr int64_t kMaxReturns = 5;

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRelease:
      return "release";
    case Verdict::kHold:
      return "hold";
    case Verdict::kPrepayment:
      return "prepayment";
  }
  return "hold";
}

Decision Decide(const v1::Row& order, const v1::Row* customer) {
  if (customer == nullptr) {
    return {Verdict::kPrepayment,
            absl::StrCat("no account for customer ", Column(order, "customer_id"))};
  }
  const int64_t total = Number(order, "total_minor");
  const int64_t open = Number(*customer, "open_total_minor");
  const int64_t limit = Number(*customer, "credit_limit_minor");
  if (Number(*customer, "returns_count") > kMaxReturns) {
    return {Verdict::kPrepayment,
            absl::StrCat(Column(*customer, "returns_count"), " returns, more than ", kMaxReturns)};
  }
  if (Column(*customer, "last_payment_time").empty() && total > kFirstOrderMinor) {
    return {Verdict::kPrepayment, absl::StrCat("never paid, and ", total, " is over the ",
                                               kFirstOrderMinor, " of a first order")};
  }
  if (open > limit) {
    return {Verdict::kHold, absl::StrCat("open ", open, " over the limit ", limit)};
  }
  return {Verdict::kRelease, absl::StrCat("open ", open, " within the limit ", limit)};
}

}  // namespace tidemark::examples
