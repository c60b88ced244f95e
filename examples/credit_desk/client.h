// What the example programs share: a channel, readable errors, and values as text.
#ifndef TIDEMARK_EXAMPLES_CREDIT_DESK_CLIENT_H_
#define TIDEMARK_EXAMPLES_CREDIT_DESK_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>

namespace grpc {
class Channel;
class ClientContext;
class Status;
}  // namespace grpc
namespace tidemark::v1 {
class Row;
class Value;
}  // namespace tidemark::v1

namespace tidemark::examples {

// A channel that reconnects quickly, so that a restarted server is found again within a second.
std::shared_ptr<grpc::Channel> Connect(const std::string& target);

// Sets deadline and, when TIDEMARK_TOKEN is set, the bearer token.
void Prepare(grpc::ClientContext& context, std::chrono::milliseconds timeout);

// "NOT_FOUND TABLE_NOT_FOUND: There is no table ...": code, reason, message.
std::string Describe(const grpc::Status& status);
// The reason of the error's ErrorInfo; empty without one.
std::string ReasonOf(const grpc::Status& status);

// The value as text: numbers in decimal, timestamps as microseconds since 1970, null as "".
std::string ToText(const v1::Value& value);
// Column `name` of `row` as text; "" when it is null or not there.
std::string Column(const v1::Row& row, const std::string& name);
// The same as a number; 0 when null.
int64_t Number(const v1::Row& row, const std::string& name);

}  // namespace tidemark::examples

#endif  // TIDEMARK_EXAMPLES_CREDIT_DESK_CLIENT_H_
