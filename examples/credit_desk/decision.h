// The credit desk's rule: pure, so that it can be read and tested without a server.
#ifndef TIDEMARK_EXAMPLES_CREDIT_DESK_DECISION_H_
#define TIDEMARK_EXAMPLES_CREDIT_DESK_DECISION_H_

#include <string>

namespace tidemark::v1 {
class Row;
}

namespace tidemark::examples {

enum class Verdict { kRelease, kHold, kPrepayment };
const char* VerdictName(Verdict verdict);  // "release", "hold", "prepayment"

struct Decision {
  Verdict verdict = Verdict::kHold;
  std::string reason;
};

// `order`: a row of table orders; `customer`: the customer's row of customer_state at the same
// snapshot, nullptr when there is none. Open orders include the order itself.
Decision Decide(const v1::Row& order, const v1::Row* customer);

}  // namespace tidemark::examples

#endif  // TIDEMARK_EXAMPLES_CREDIT_DESK_DECISION_H_
