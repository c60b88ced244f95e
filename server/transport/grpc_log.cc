#include "server/transport/grpc_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include "common/check.h"
#include "common/mutex.h"

namespace tidemark {
namespace {

// gRPC takes a plain function, so what it writes to must be found without an argument. The lock
// keeps the log alive while a line is written.
struct Target {
  Mutex mutex;
  Log* log TIDEMARK_GUARDED_BY(mutex) = nullptr;
};

Target& TheTarget() {
  static Target& target = *new Target;  // never destroyed: gRPC's threads may outlive main
  return target;
}

void WriteLine(gpr_log_func_args* args) {
  Target& target = TheTarget();
  MutexLock lock(target.mutex);
  if (target.log == nullptr) return;
  target.log->Write(
      args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug, "gRPC says",
      {{"text", args->message}});
}

}  // namespace

GrpcLogRedirect::GrpcLogRedirect(Log& log) {
  Target& target = TheTarget();
  MutexLock lock(target.mutex);
  TIDEMARK_CHECK(target.log == nullptr);
  target.log = &log;
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_set_log_function(&WriteLine);
  // Protobuf complains about every request that is no message; its caller is told already.
  google::protobuf::SetLogHandler(nullptr);
}

GrpcLogRedirect::~GrpcLogRedirect() {
  Target& target = TheTarget();
  MutexLock lock(target.mutex);
  target.log = nullptr;
}

}  // namespace tidemark
