#include "storage/state/engine/disk/directory.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/error.h"
#include "common/strings.h"
#include "storage/state/engine/disk/database.h"

namespace tidemark::state::engine {
namespace {

// The identity file: this line, "host " and the host, "state " and one of the two words.
constexpr std::string_view kIdentityHeader = "tidemark state directory 1";
constexpr std::string_view kCreating = "creating";
constexpr std::string_view kReady = "ready";

constexpr size_t kMaxSmallFileBytes = 4096;

bool StartsWith(std::string_view s, std::string_view prefix) {
  return s.substr(0, prefix.size()) == prefix;
}

bool EndsWith(std::string_view s, std::string_view suffix) {
  return s.size() >= suffix.size() && s.substr(s.size() - suffix.size()) == suffix;
}

// A file that only a LevelDB database leaves behind.
bool IsDatabaseFile(std::string_view name) {
  return StartsWith(name, "MANIFEST-") || EndsWith(name, ".ldb") || EndsWith(name, ".sst") ||
         EndsWith(name, ".log");
}

absl::Status Damaged(const std::string& file, std::string_view cause) {
  return MakeError(
      Reason::kDataDamaged,
      absl::StrCat(file, ": ", ToAbsl(cause),
                   ". The state is not opened and nothing in its directory is changed. Restore the "
                   "directory from a backup, or move it away and let the state be built again from "
                   "its sources."),
      {{"file", file}, {"cause", std::string(cause)}});
}

absl::Status CannotUse(const std::string& file, const leveldb::Status& status) {
  return absl::UnavailableError(absl::StrCat(file, ": ", status.ToString()));
}

absl::StatusOr<std::string> ReadSmallFile(leveldb::Env& env, const std::string& file) {
  leveldb::SequentialFile* opened = nullptr;
  if (const leveldb::Status status = env.NewSequentialFile(file, &opened); !status.ok()) {
    return CannotUse(file, status);
  }
  const std::unique_ptr<leveldb::SequentialFile> owned(opened);
  std::string scratch(kMaxSmallFileBytes, '\0');
  leveldb::Slice content;
  if (const leveldb::Status status = owned->Read(scratch.size(), &content, scratch.data());
      !status.ok()) {
    return CannotUse(file, status);
  }
  return content.ToString();
}

struct IdentityFile {
  std::string host;
  bool ready = false;
};

absl::StatusOr<IdentityFile> ReadIdentityFile(leveldb::Env& env, const std::string& file) {
  TIDEMARK_ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(env, file));
  const std::vector<std::string> lines = absl::StrSplit(content, '\n');
  if (lines.size() == 4 && lines[0] == kIdentityHeader && StartsWith(lines[1], "host ") &&
      StartsWith(lines[2], "state ") && lines[3].empty()) {
    IdentityFile identity;
    identity.host = lines[1].substr(5);
    const std::string state = lines[2].substr(6);
    identity.ready = state == kReady;
    if (identity.ready || state == kCreating) return identity;
  }
  return Damaged(file, "it is not an identity file of this version");
}

absl::Status CheckManifest(leveldb::Env& env, const std::string& dir) {
  const std::string current = absl::StrCat(dir, "/CURRENT");
  TIDEMARK_ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(env, current));
  if (content.empty()) return Damaged(current, "it is empty");
  if (content.back() != '\n') {
    return Damaged(current, absl::StrCat("it does not end with a newline; it holds \"",
                                         Printable(content), "\""));
  }
  const std::string name = content.substr(0, content.size() - 1);
  if (!StartsWith(name, "MANIFEST-") || name.find('/') != std::string::npos) {
    return Damaged(current,
                   absl::StrCat("it names \"", Printable(name), "\", which is no MANIFEST"));
  }
  const std::string manifest = absl::StrCat(dir, "/", name);
  if (!env.FileExists(manifest)) return Damaged(manifest, "it is missing, and CURRENT names it");
  return absl::OkStatus();
}

}  // namespace

std::string ThisHost() {
  std::string id;
  std::ifstream file("/etc/machine-id");
  if (std::getline(file, id) && !id.empty() && id != "uninitialized") return id;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0') return name.data();
  return "unknown";
}

absl::StatusOr<DirectoryState> InspectDirectory(leveldb::Env& env, const std::string& dir,
                                                const std::string& host) {
  const leveldb::Status made = env.CreateDir(dir);
  std::vector<std::string> names;
  if (const leveldb::Status status = env.GetChildren(dir, &names); !status.ok()) {
    return CannotUse(dir, status.IsNotFound() ? made : status);
  }
  std::sort(names.begin(), names.end());
  const bool has_current = std::binary_search(names.begin(), names.end(), "CURRENT");
  const auto leftover = std::find_if(names.begin(), names.end(), IsDatabaseFile);

  bool creating = false, ready = false;
  if (std::binary_search(names.begin(), names.end(), std::string(kIdentityFile))) {
    const std::string file = absl::StrCat(dir, "/", ToAbsl(kIdentityFile));
    TIDEMARK_ASSIGN_OR_RETURN(const IdentityFile identity, ReadIdentityFile(env, file));
    if (identity.host != host) {
      return absl::FailedPreconditionError(absl::StrCat(
          file, ": the directory belongs to host ", Printable(identity.host), ", and this is ",
          Printable(host),
          ". Two servers must never write one directory. If it was moved here for good, delete "
          "that file and start again."));
    }
    ready = identity.ready;
    creating = !identity.ready;
  }
  if (has_current) {
    TIDEMARK_RETURN_IF_ERROR(CheckManifest(env, dir));
    return creating ? DirectoryState::kCreating : DirectoryState::kExisting;
  }
  if (creating) return DirectoryState::kCreating;
  if (ready || leftover != names.end()) {
    const std::string beside = leftover != names.end() ? *leftover : std::string(kIdentityFile);
    return Damaged(absl::StrCat(dir, "/CURRENT"),
                   absl::StrCat("it is missing, and ", beside, " shows that there was a store"));
  }
  return DirectoryState::kNew;
}

absl::Status WriteIdentityFile(leveldb::Env& env, const std::string& dir, const std::string& host,
                               bool created) {
  const std::string file = absl::StrCat(dir, "/", ToAbsl(kIdentityFile));
  const std::string temporary = file + ".tmp";
  leveldb::WritableFile* opened = nullptr;
  leveldb::Status status = env.NewWritableFile(temporary, &opened);
  if (!status.ok()) return CannotUse(temporary, status);
  const std::unique_ptr<leveldb::WritableFile> owned(opened);
  status = owned->Append(absl::StrCat(ToAbsl(kIdentityHeader), "\nhost ", host, "\nstate ",
                                      ToAbsl(created ? kReady : kCreating), "\n"));
  if (status.ok()) status = owned->Sync();
  if (status.ok()) status = owned->Close();
  if (status.ok()) status = env.RenameFile(temporary, file);
  return status.ok() ? absl::OkStatus() : CannotUse(file, status);
}

absl::Status OpenError(const std::string& dir, const leveldb::Status& status) {
  const std::string text = status.ToString();
  if (text.find("IO error: lock ") == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(dir, "/LOCK: the directory is in use by another process (", text, ")."));
  }
  if (status.IsCorruption() || status.IsNotFound() || status.IsInvalidArgument()) {
    return Damaged(dir, text);
  }
  return absl::UnavailableError(absl::StrCat(dir, ": ", text));
}

}  // namespace tidemark::state::engine
