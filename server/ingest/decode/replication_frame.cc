#include "server/ingest/decode/replication_frame.h"

#include "absl/strings/str_cat.h"
#include "common/error.h"
#include "common/strings.h"

namespace tidemark::ingest {
namespace {

constexpr size_t kDataHeaderBytes = 1 + 8 + 8 + 8;    // type, start, end, time sent
constexpr size_t kKeepaliveBytes = 1 + 8 + 8 + 1;     // type, end, time sent, reply requested
constexpr int64_t kPostgresEpochSeconds = 946684800;  // 2000-01-01T00:00:00Z

uint64_t ReadNumber(std::string_view eight_bytes) {
  uint64_t number = 0;
  for (char c : eight_bytes) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

void AppendNumber(uint64_t number, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(number >> shift));
}

}  // namespace

absl::Status ParseReplicationFrame(std::string_view bytes, ReplicationFrame* frame) {
  if (bytes.size() >= kDataHeaderBytes && bytes[0] == 'w') {
    frame->kind = ReplicationFrame::Kind::kData;
    frame->payload = bytes.substr(kDataHeaderBytes);
    frame->wal_end = 0;
    frame->reply_requested = false;
    return absl::OkStatus();
  }
  if (bytes.size() == kKeepaliveBytes && bytes[0] == 'k') {
    frame->kind = ReplicationFrame::Kind::kKeepalive;
    frame->payload = {};
    frame->wal_end = ReadNumber(bytes.substr(1, 8));
    frame->reply_requested = bytes.back() != 0;
    return absl::OkStatus();
  }
  const std::string type = Printable(bytes.substr(0, 1));
  return MakeError(Reason::kEventMalformed,
                   absl::StrCat("Replication frame '", type, "' of ", bytes.size(),
                                " bytes is of unknown form."),
                   {{"message_type", type}, {"size", absl::StrCat(bytes.size())}});
}

std::string EncodeStandbyStatus(uint64_t written, uint64_t flushed, absl::Time now,
                                bool request_reply) {
  std::string bytes = "r";
  AppendNumber(written, &bytes);
  AppendNumber(flushed, &bytes);
  AppendNumber(flushed, &bytes);  // applied
  const absl::Duration since_epoch = now - absl::FromUnixSeconds(kPostgresEpochSeconds);
  AppendNumber(static_cast<uint64_t>(absl::ToInt64Microseconds(since_epoch)), &bytes);
  bytes.push_back(request_reply ? '\1' : '\0');
  return bytes;
}

}  // namespace tidemark::ingest
