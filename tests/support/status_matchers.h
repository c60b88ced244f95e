// Matchers for absl::Status and absl::StatusOr. They all name what is expected: there is no "not
// OK" matcher, so that a test says which code and which reason it means.
//
// Example:
//   EXPECT_THAT(store.Open(), IsOk());
//   EXPECT_THAT(store.Get("k"), IsOkAndHolds("v"));
//   EXPECT_THAT(store.Get("k"), ReasonIs(Reason::kTableNotFound));
//   EXPECT_THAT(grpc_free_status, StatusIs(absl::StatusCode::kInternal));
#ifndef TIDEMARK_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define TIDEMARK_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/error.h"
#include "common/strings.h"
#include "gmock/gmock.h"

namespace tidemark::testing {
namespace internal {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// What gtest would not print of a StatusOr: the status, and the reason beside its text.
inline void Explain(const absl::Status& status, ::testing::MatchResultListener* listener) {
  *listener << "which is " << status.ToString(absl::StatusToStringMode::kWithNoExtraData);
  if (ReasonOf(status) != Reason::kNone) *listener << " [" << ReasonName(ReasonOf(status)) << "]";
}

template <typename Inner>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(Inner inner) : inner_(std::move(inner)) {}

  template <typename Result>
  operator ::testing::Matcher<Result>() const {  // NOLINT(google-explicit-constructor)
    return ::testing::Matcher<Result>(new Impl<Result>(inner_));
  }

 private:
  template <typename Result>
  class Impl : public ::testing::MatcherInterface<Result> {
   public:
    using Value = typename std::decay_t<Result>::value_type;
    explicit Impl(const Inner& inner) : inner_(::testing::SafeMatcherCast<const Value&>(inner)) {}

    bool MatchAndExplain(Result result, ::testing::MatchResultListener* listener) const override {
      if (!result.ok()) {
        Explain(result.status(), listener);
        return false;
      }
      *listener << "which holds " << ::testing::PrintToString(*result) << " ";
      return inner_.MatchAndExplain(*result, listener);
    }
    void DescribeTo(std::ostream* os) const override {
      *os << "is OK and holds a value that ";
      inner_.DescribeTo(os);
    }
    void DescribeNegationTo(std::ostream* os) const override {
      *os << "is not OK, or holds a value that ";
      inner_.DescribeNegationTo(os);
    }

   private:
    ::testing::Matcher<const Value&> inner_;
  };

  Inner inner_;
};

}  // namespace internal

// Matches an OK Status or StatusOr.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  internal::Explain(internal::StatusOf(arg), result_listener);
  return internal::StatusOf(arg).ok();
}

// Matches a Status or StatusOr with exactly this code.
MATCHER_P(StatusIs, code,
          std::string(negation ? "has not" : "has") + " the code " +
              absl::StatusCodeToString(code)) {
  internal::Explain(internal::StatusOf(arg), result_listener);
  return internal::StatusOf(arg).code() == code;
}

// Matches an error made with this reason; the code then is the one the reason's table row says, and
// that is checked too.
MATCHER_P(ReasonIs, reason,
          std::string(negation ? "has not" : "has") + " the reason " +
              std::string(ReasonName(reason))) {
  const absl::Status& status = internal::StatusOf(arg);
  internal::Explain(status, result_listener);
  return ReasonOf(status) == reason && status.code() == CodeOf(reason);
}

// Matches an OK StatusOr whose value matches `inner` (a value or a matcher).
template <typename Inner>
internal::IsOkAndHoldsMatcher<std::decay_t<Inner>> IsOkAndHolds(Inner&& inner) {
  return internal::IsOkAndHoldsMatcher<std::decay_t<Inner>>(std::forward<Inner>(inner));
}

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_STATUS_MATCHERS_H_
