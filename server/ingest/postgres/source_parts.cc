#include "server/ingest/postgres/source_parts.h"

#include <poll.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tidemark::ingest {
namespace {

// "a, b" -> sorted names, each once.
std::vector<std::string> SplitNames(const std::string& text) {
  std::set<std::string> names;
  for (const auto part : absl::StrSplit(text, ',')) {
    const auto name = absl::StripAsciiWhitespace(part);
    if (!name.empty()) names.insert(std::string(name));
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> Union(const std::vector<std::string>& a,
                               const std::vector<std::string>& b) {
  std::set<std::string> names(a.begin(), a.end());
  names.insert(b.begin(), b.end());
  return {names.begin(), names.end()};
}

}  // namespace

SourceParts::SourceParts(PostgresSourceOptions source_options, const tables::Catalog& the_catalog,
                         Applier& the_applier, const Clock& the_clock)
    : options(std::move(source_options)),
      publications(SplitNames(options.publication)),
      relations(Union(options.relations, the_catalog.RelationsOf(options.name))),
      fed(the_catalog.RelationsOf(options.name)),
      catalog(the_catalog),
      applier(the_applier),
      clock(the_clock),
      progress(std::make_shared<Progress>(options.name, the_clock)),
      board(std::make_shared<StatusBoard>(options.name, options.on_state)),
      outbox(options.name, the_applier, wake) {}

ConnectOptions SourceParts::connect_options(bool replication) const {
  ConnectOptions connect;
  connect.dsn = options.dsn;
  connect.replication = replication;
  connect.application_name = absl::StrCat("tidemark ", options.name);
  return connect;
}

DatabaseName SourceParts::database() const {
  MutexLock lock(mutex_);
  return database_;
}

void SourceParts::set_database(DatabaseName database) {
  MutexLock lock(mutex_);
  database_ = std::move(database);
}

std::map<std::string, RelationRecord> SourceParts::followed(uint64_t* version) const {
  MutexLock lock(mutex_);
  *version = followed_version_;
  return followed_;
}

void SourceParts::set_followed(std::map<std::string, RelationRecord> relations) {
  MutexLock lock(mutex_);
  followed_ = std::move(relations);
  ++followed_version_;
}

void AwaitWake(SourceParts& parts, absl::Duration timeout) {
  pollfd fds[] = {{parts.wake->fd(), POLLIN, 0}, {parts.interrupt.fd(), POLLIN, 0}};
  constexpr absl::Duration kLongest = absl::Minutes(1);
  const absl::Duration wait = std::clamp(timeout, absl::ZeroDuration(), kLongest);
  poll(fds, 2, static_cast<int>(absl::ToInt64Milliseconds(wait)));
  if (fds[0].revents != 0) parts.wake->Clear();
}

}  // namespace tidemark::ingest
