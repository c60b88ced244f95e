#include "server/ingest/postgres/source_checks.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/error.h"
#include "server/ingest/postgres/failure.h"
#include "server/ingest/postgres/sql.h"

namespace tidemark::ingest {
namespace {

constexpr int kOldestVersion = 140000;

Lsn LsnOf(const std::optional<std::string>& text) {
  if (!text.has_value()) return 0;
  auto lsn = ParseLsn(*text);
  return lsn.ok() ? *lsn : 0;
}

uint32_t Number(const std::optional<std::string>& text) {
  return text.has_value() ? static_cast<uint32_t>(std::strtoul(text->c_str(), nullptr, 10)) : 0;
}

absl::Status Unexpected(std::string_view command) {
  return Retrying(
      absl::StrCat("The server's answer to ", std::string(command), " has an unknown form."));
}

// Where the server's history left timeline `wanted`; nullopt when it was never on it. `history`:
// lines of "timeline <tab> position <tab> reason", and comments.
std::optional<Lsn> EndOfTimeline(const std::string& history, uint32_t wanted) {
  for (const auto line : absl::StrSplit(history, '\n')) {
    const std::vector<std::string> fields =
        absl::StrSplit(line, absl::ByAnyChar("\t "), absl::SkipEmpty());
    if (fields.size() < 2 || fields[0][0] == '#') continue;
    const auto end = ParseLsn(fields[1]);
    if (end.ok() && Number(fields[0]) == wanted) return *end;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<ServerIdentity> Identify(PgConnection& connection) {
  constexpr std::string_view kDoing = "identifying the server";
  if (connection.server_version() < kOldestVersion) {
    return Failed(absl::StrCat("The source's server is PostgreSQL ",
                               connection.server_version() / 10000,
                               "; version 14 or later is needed."));
  }
  ServerIdentity identity;
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows settings,
      connection.Query("SELECT d.oid, current_setting('wal_level'), (SELECT setting FROM "
                       "pg_settings WHERE name = 'wal_sender_timeout'), pg_is_in_recovery() "
                       "FROM pg_database d WHERE d.datname = current_database()",
                       kDoing));
  if (settings.size() != 1) return Unexpected("a query for its settings");
  // Asked before the timeline: a server out of recovery stays on its timeline as long as we are
  // connected, a standby does not.
  if (settings[0][3] != "f") {
    return Retrying(
        "The server is a standby. It is followed once it is promoted; to follow its "
        "primary, name both hosts in the DSN with target_session_attrs=read-write.");
  }
  if (settings[0][1] != "logical") {
    return Failed(
        absl::StrCat("The source's server has wal_level = ", settings[0][1].value_or("?"),
                     "; it must be logical. Set it there (ALTER SYSTEM SET wal_level = "
                     "'logical') and restart the server; copying starts by itself then."));
  }
  identity.database_oid = Number(settings[0][0]);
  const uint32_t timeout = Number(settings[0][2]);
  identity.sender_timeout =
      timeout == 0 ? absl::InfiniteDuration() : absl::Milliseconds(int64_t{timeout});
  TIDEMARK_ASSIGN_OR_RETURN(const PgRows system, connection.Query("IDENTIFY_SYSTEM", kDoing));
  if (system.size() != 1 || system[0].size() < 4) return Unexpected("IDENTIFY_SYSTEM");
  identity.system_identifier = system[0][0].value_or("");
  identity.timeline = Number(system[0][1]);
  identity.flushed = LsnOf(system[0][2]);
  identity.database = system[0][3].value_or("");
  return identity;
}

absl::Status CheckSameDatabase(const SourceIdentity& followed, const ServerIdentity& now) {
  if (followed.system_identifier == now.system_identifier && followed.database == now.database &&
      followed.database_oid == now.database_oid) {
    return absl::OkStatus();
  }
  const auto describe = [](const std::string& system, const std::string& database, uint32_t oid) {
    return absl::StrCat("database \"", database, "\" (oid ", oid, ") of system ", system);
  };
  return Failed(absl::StrCat(
      "The DSN leads to ", describe(now.system_identifier, now.database, now.database_oid),
      ", but this source follows ",
      describe(followed.system_identifier, followed.database, followed.database_oid),
      ". Correct the DSN; nothing of the other database is read. To follow it on purpose, give it "
      "a source name of its own."));
}

absl::Status CheckHistory(PgConnection& connection, const SourceIdentity& followed,
                          const ServerIdentity& now, Lsn resume) {
  if (now.timeline != followed.timeline) {
    std::optional<Lsn> end;
    if (now.timeline > followed.timeline) {
      TIDEMARK_ASSIGN_OR_RETURN(const PgRows rows,
                                connection.Query(absl::StrCat("TIMELINE_HISTORY ", now.timeline),
                                                 "reading the timeline's history"));
      if (rows.size() != 1 || rows[0].size() != 2) return Unexpected("TIMELINE_HISTORY");
      end = EndOfTimeline(rows[0][1].value_or(""), followed.timeline);
    }
    if (!end.has_value() || resume > *end) {
      return Gap(absl::StrCat(
          "The server is on timeline ", now.timeline, ", whose history does not contain position ",
          FormatLsn(resume), " of timeline ", followed.timeline,
          end.has_value() ? absl::StrCat(" (it ended at ", FormatLsn(*end), ")") : "",
          ": the server was promoted or restored from before it."));
    }
  }
  if (now.flushed < resume) {
    return Gap(absl::StrCat("The server's log ends at ", FormatLsn(now.flushed), ", before ",
                            FormatLsn(resume),
                            ", which is applied here: the server was restored "
                            "from an older state."));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SlotState>> ReadSlot(PgConnection& connection, const std::string& slot,
                                                  const std::string& database) {
  TIDEMARK_ASSIGN_OR_RETURN(
      const PgRows rows,
      connection.Query(absl::StrCat("SELECT slot_type, plugin, database, active, active_pid, "
                                    "restart_lsn, confirmed_flush_lsn, wal_status "
                                    "FROM pg_replication_slots WHERE slot_name = ",
                                    QuoteLiteral(slot)),
                       "reading the slot"));
  if (rows.empty()) return std::nullopt;
  const PgRow& row = rows[0];
  if (row[0] != "logical" || row[1] != "pgoutput" || row[2] != database) {
    return Failed(absl::StrCat("Slot \"", slot, "\" at the source is not ours: a ",
                               row[0].value_or("?"), " slot with plugin ", row[1].value_or("none"),
                               " of database ", row[2].value_or("none"),
                               ". Configure another slot name."));
  }
  SlotState state;
  state.active = row[3] == "t";
  state.active_pid = static_cast<int>(Number(row[4]));
  state.confirmed = LsnOf(row[6]);
  state.lost = !row[5].has_value() || row[7] == "lost";
  if (state.active) {
    return Retrying(absl::StrCat(
        "Slot \"", slot, "\" is active for another session at the source, pid ", state.active_pid,
        ". It is never taken away from it: stop the other instance, or give this one a slot of its "
        "own. The session of a connection that broke ends by itself (wal_sender_timeout)."));
  }
  return state;
}

absl::Status CheckSlot(const std::string& slot, const std::optional<SlotState>& state, Lsn resume) {
  if (!state.has_value()) {
    return Gap(absl::StrCat("Slot \"", slot, "\" is gone at the source: changes since ",
                            FormatLsn(resume), " may be lost."));
  }
  if (state->lost) {
    return Gap(absl::StrCat("Slot \"", slot,
                            "\" was invalidated at the source "
                            "(max_slot_wal_keep_size): changes since ",
                            FormatLsn(resume), " are lost."));
  }
  if (state->confirmed > resume) {
    return Gap(absl::StrCat("Slot \"", slot, "\" has moved on to ", FormatLsn(state->confirmed),
                            ", past ", FormatLsn(resume),
                            ", which is applied here: the server "
                            "would skip what lies between. Another instance used the slot, or "
                            "this state directory was restored from a backup."));
  }
  return absl::OkStatus();
}

}  // namespace tidemark::ingest
