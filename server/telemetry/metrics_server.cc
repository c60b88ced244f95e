#include "server/telemetry/metrics_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <netinet/in.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"

namespace tidemark {
namespace {

int Answer(mg_connection* connection, int code, const char* reason, const char* type,
           const std::string& body) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            code, reason, type, body.size());
  mg_write(connection, body.data(), body.size());
  return code;
}

// Opens a connection to a port of this machine and closes it.
void Knock(int port, bool ipv6) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<uint16_t>(port));
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  v6.sin6_addr = in6addr_loopback;
  const int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto* const address =
      ipv6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  // Whether anybody answers does not matter.
  (void)connect(fd, address, ipv6 ? sizeof(v6) : sizeof(v4));
  close(fd);
}

}  // namespace

std::string MetricsText(const std::vector<const prometheus::Collectable*>& collectables) {
  std::vector<prometheus::MetricFamily> families;
  for (const prometheus::Collectable* collectable : collectables) {
    for (prometheus::MetricFamily& family : collectable->Collect()) {
      if (family.metric.empty()) continue;
      // A name has one heading, whoever has series under it.
      const auto same =
          std::find_if(families.begin(), families.end(),
                       [&family](const auto& other) { return other.name == family.name; });
      if (same == families.end()) {
        families.push_back(std::move(family));
      } else {
        same->metric.insert(same->metric.end(), family.metric.begin(), family.metric.end());
      }
    }
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& address, std::vector<const prometheus::Collectable*> collectables) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(std::move(collectables)));
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           "2",
                           "request_timeout_ms",
                           "5000",
                           "enable_keep_alive",
                           "no",
                           nullptr};
  mg_callbacks callbacks{};
  // civetweb's own words go nowhere: what matters is in the status below.
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
  server->context_ = mg_start(&callbacks, nullptr, options);
  if (server->context_ == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot listen for metrics at ", address,
                                               ": the address is in use or not of this machine"));
  }
  mg_server_port ports[4];
  const int count = mg_get_server_ports(server->context_, 4, ports);
  if (count > 0) {
    server->port_ = ports[0].port;
    server->ipv6_ = ports[0].protocol == 3;
  }
  mg_set_request_handler(server->context_, "/metrics$", &ServeMetrics, server.get());
  mg_set_request_handler(server->context_, "/healthz$", &ServeHealth, server.get());
  return server;
}

MetricsServer::~MetricsServer() {
  if (context_ == nullptr) return;
  Mutex mutex;
  CondVar changed;
  bool stopped = false;
  std::thread stopper([&] {
    mg_stop(context_);
    MutexLock lock(mutex);
    stopped = true;
    changed.NotifyAll();
  });
  {
    // civetweb looks whether it should stop when a connection comes, or after two seconds.
    MutexLock lock(mutex);
    while (!stopped) {
      Knock(port_, ipv6_);
      changed.WaitFor(mutex, std::chrono::milliseconds(20));
    }
  }
  stopper.join();
}

int MetricsServer::ServeMetrics(mg_connection* connection, void* self) {
  const auto* server = static_cast<MetricsServer*>(self);
  return Answer(connection, 200, "OK", "text/plain; version=0.0.4; charset=utf-8",
                MetricsText(server->collectables_));
}

int MetricsServer::ServeHealth(mg_connection* connection, void* self) {
  const bool healthy = static_cast<MetricsServer*>(self)->healthy_;
  return healthy ? Answer(connection, 200, "OK", "text/plain", "ok\n")
                 : Answer(connection, 503, "Service Unavailable", "text/plain", "not serving\n");
}

}  // namespace tidemark
