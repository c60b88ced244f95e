#include "tests/simulation/state_compare.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error.h"
#include "common/strings.h"
#include "tests/simulation/state_workload.h"

namespace tidemark::state {
namespace {

using Lines = std::vector<std::string>;

// More than any workload makes: tables that do not exist are asked for too.
constexpr TableId kTables = 4;

std::string Text(const absl::Status& status) {
  return status.ok() ? "OK"
                     : absl::StrCat("error ", ToAbsl(ReasonName(ReasonOf(status))),
                                    ReasonOf(status) == Reason::kDataDamaged
                                        ? absl::string_view(status.message())
                                        : absl::string_view());
}

std::string RowText(const StoredRow& row, bool with_meta) {
  if (!row.found()) return "absent";
  return absl::StrCat(ToAbsl(row.bytes()), "@", row.version(), " ",
                      with_meta ? ToAbsl(row.meta()) : absl::string_view());
}

void ReadTable(const StateReader& reader, const ReadPoint& point, TableId table,
               const std::vector<std::string>& keys, bool newest, Lines* lines) {
  // Rows whose meta changed in place show the newest one at older snapshots too.
  const bool with_meta = newest && point.id == point.publication->id();
  for (const std::string& key : keys) {
    StoredRow row;
    const absl::Status status = reader.Get(point, table, key, &row);
    lines->push_back(absl::StrCat("snapshot ", point.id, " table ", table, " key ", key, ": ",
                                  Text(status), " ", RowText(row, with_meta)));
    if (!status.ok()) return;
  }
  const auto cursor = reader.Scan(point, table, {});
  if (!cursor.ok()) {
    lines->push_back(Text(cursor.status()));
    return;
  }
  for (; (*cursor)->Valid(); (*cursor)->Next()) {
    lines->push_back(absl::StrCat("snapshot ", point.id, " table ", table, " scanned ",
                                  ToAbsl((*cursor)->key()), ": ",
                                  RowText((*cursor)->row(), with_meta)));
  }
  lines->push_back(Text((*cursor)->status()));
}

Lines ReadAll(const StateReader& reader, const PublicationPtr& publication,
              const std::vector<std::string>& keys, bool newest) {
  Lines lines = {absl::StrCat("at ", publication->id())};
  for (SnapshotId id = kFirstSnapshot; id <= publication->id(); ++id) {
    const absl::StatusOr<ReadPoint> point = reader.PointAt(publication, id);
    lines.push_back(Text(point.status()));
    if (!point.ok()) continue;
    for (TableId table = 1; table <= kTables; ++table) {
      ReadTable(reader, *point, table, keys, newest, &lines);
    }
    const absl::StatusOr<SnapshotInfo> info = reader.Describe(*point);
    lines.push_back(
        info.ok() ? absl::StrCat("made by ", info->source, " ", absl::FormatTime(info->event_time))
                  : Text(info.status()));
    for (const std::string_view source : kSources) {
      const auto before = reader.NewestBefore(publication, source, absl::StrCat(100000 + 7 * id));
      lines.push_back(absl::StrCat("before ", 100000 + 7 * id, ": ", Text(before.status()), " ",
                                   before.ok() ? before->id : 0));
    }
  }
  const auto changes = reader.Changes(publication, kFirstSnapshot);
  if (!changes.ok()) return {Text(changes.status())};
  for (; (*changes)->Valid(); (*changes)->Next()) {
    const Change& change = (*changes)->change();
    lines.push_back(absl::StrCat("change in ", change.snapshot, " of table ", change.table, " op ",
                                 static_cast<int>(change.op), " key ", change.key, " prev ",
                                 change.prev));
  }
  lines.push_back(Text((*changes)->status()));
  return lines;
}

Lines WriterState(StateWriter& writer, const std::vector<std::string>& keys) {
  Lines lines;
  for (const TableRecord& table : writer.Tables()) {
    lines.push_back(absl::StrCat("table ", table.id, " ", table.definition, " ", table.loading, " ",
                                 table.truncation_sequence));
    const auto add = [&](std::string_view key, const Version& version) {
      lines.push_back(absl::StrCat("table ", table.id, " key ", ToAbsl(key), " kind ",
                                   static_cast<int>(version.kind), " ", version.meta, " ",
                                   version.row));
      return true;
    };
    lines.push_back(Text(writer.VisitRows(table.id, "", add)));
    for (const std::string& key : keys) {
      const auto version = writer.Current(table.id, key);
      lines.push_back(Text(version.status()));
      if (version.ok() && version->has_value()) add(key, **version);
    }
  }
  for (const AuxSpace space : kAuxSpaces) {
    lines.push_back(Text(
        writer.VisitAux(space, "", "", false, [&](std::string_view key, std::string_view value) {
          lines.push_back(absl::StrCat("space ", std::string(1, static_cast<char>(space)), " ",
                                       ToAbsl(key), "=", ToAbsl(value)));
          return true;
        })));
  }
  return lines;
}

std::optional<std::string> FirstDifference(const Lines& a, const Lines& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(nothing)";
    const std::string right = i < b.size() ? b[i] : "(nothing)";
    if (left != right) return absl::StrCat("\n  one:   ", left, "\n  other: ", right);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> CompareReaders(const StateReader& a, const PublicationPtr& at_a,
                                          const StateReader& b, const PublicationPtr& at_b,
                                          const std::vector<std::string>& keys, bool newest) {
  return FirstDifference(ReadAll(a, at_a, keys, newest), ReadAll(b, at_b, keys, newest));
}

std::optional<std::string> CompareWriters(StateWriter& a, StateWriter& b,
                                          const std::vector<std::string>& keys) {
  return FirstDifference(WriterState(a, keys), WriterState(b, keys));
}

}  // namespace tidemark::state
