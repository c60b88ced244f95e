// Requests from their wire bytes, and what is wrong with bytes that are none.
#ifndef TIDEMARK_SERVER_TRANSPORT_REQUEST_PARSE_H_
#define TIDEMARK_SERVER_TRANSPORT_REQUEST_PARSE_H_

#include <string_view>

#include "absl/status/status.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace grpc {
class ByteBuffer;
}

namespace tidemark {

// Parses `wire` into `message`; FIELD_INVALID when it is no message of its type, as UnparsableAs
// says.
absl::Status ParseRequest(const grpc::ByteBuffer& wire, google::protobuf::Message* message);

// Why protobuf does not take `bytes` as a message of `type`: FIELD_INVALID naming the field that
// holds text that is not UTF-8, is nested too deeply or is cut; "request" when nothing better can
// be said. Shows nothing of the bytes. Looks at each byte a bounded number of times; only for bytes
// that did not parse.
absl::Status UnparsableAs(const google::protobuf::Descriptor& type, std::string_view bytes);

}  // namespace tidemark

#endif  // TIDEMARK_SERVER_TRANSPORT_REQUEST_PARSE_H_
