// Case O-KV-01 and its kin: a directory that is damaged, in use, another host's or another
// program's is refused with the file and the cause, and nothing in it is changed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "leveldb/db.h"
#include "storage/state/engine/disk/database.h"
#include "storage/state/engine/layout/format.h"
#include "storage/state/engine/layout/records.h"
#include "storage/state/state_store.h"
#include "tests/support/status_matchers.h"

namespace tidemark::state {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::ReasonIs;
using testing::StatusIs;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

void WriteFile(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class StateDirectory : public ::testing::Test {
 protected:
  StateDirectory() {
    std::string name = (fs::temp_directory_path() / "tidemark_state_XXXXXX").string();
    root_ = mkdtemp(name.data());
    dir_ = root_ / "state";
  }
  ~StateDirectory() override { fs::remove_all(root_); }

  absl::StatusOr<std::unique_ptr<LevelDbStore>> Open(std::string host = "this-host") {
    StateOptions options;
    options.dir = dir_.string();
    options.block_cache_bytes = options.row_cache_bytes = 1 << 20;
    options.stamp_encoder = [](const SnapshotInfo&, std::string_view, bool) { return "stamp"; };
    options.host = std::move(host);
    return OpenLevelDbStore(options);
  }

  // A store with a row in it, closed.
  void MakeStore() {
    auto store = Open();
    ASSERT_THAT(store, IsOk());
    StateWriter& writer = (*store)->writer();
    ASSERT_THAT(writer.CreateTable("t"), IsOk());
    ASSERT_THAT(writer.BeginSnapshot(), IsOk());
    ASSERT_THAT(writer.FinishLoading(1), IsOk());
    ASSERT_THAT(writer.Put(1, "k", RowKind::kPresent, "", "row"), IsOk());
    ASSERT_THAT(writer.EndSnapshot({}), IsOk());
    ASSERT_THAT(writer.Commit({}), IsOk());
  }

  void ExpectWhole() {
    auto store = Open();
    ASSERT_THAT(store, IsOk());
    StoredRow row;
    EXPECT_THAT((*store)->reader().Get(LatestPoint((*store)->reader().Latest()), 1, "k", &row),
                IsOk());
    EXPECT_EQ(row.bytes(), "row");
  }

  fs::path Manifest() {
    for (const auto& entry : fs::directory_iterator(dir_)) {
      if (absl::StartsWith(entry.path().filename().string(), "MANIFEST-")) return entry.path();
    }
    ADD_FAILURE() << "no MANIFEST";
    return {};
  }

  // Name -> content of everything but LevelDB's log of its own doings.
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::directory_iterator(dir_)) {
      const std::string name = entry.path().filename().string();
      if (!absl::StartsWith(name, "LOG") && name != "LOCK") contents[name] = ReadFile(entry);
    }
    return contents;
  }

  // Opening is refused with the file and the cause, twice, and changes no file.
  void ExpectDamaged(std::string_view file, std::string_view cause) {
    const auto before = Contents();
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = Open().status();
      EXPECT_THAT(status, ReasonIs(Reason::kDataDamaged));
      EXPECT_THAT(std::string(status.message()),
                  AllOf(HasSubstr(std::string(file)), HasSubstr(std::string(cause))));
      EXPECT_THAT(MetadataValue(status, "file"), HasSubstr(std::string(file)));
    }
    EXPECT_EQ(Contents(), before);
  }

  fs::path root_, dir_;
};

TEST_F(StateDirectory, O_KV_01a_AnEmptyCurrentIsRefused) {
  MakeStore();
  const std::string good = ReadFile(dir_ / "CURRENT");
  WriteFile(dir_ / "CURRENT", "");
  ExpectDamaged("/CURRENT", "empty");
  WriteFile(dir_ / "CURRENT", good);
  ExpectWhole();
}

TEST_F(StateDirectory, O_KV_01b_ACurrentOfZerosIsRefused) {
  MakeStore();
  WriteFile(dir_ / "CURRENT", std::string(16, '\0'));
  ExpectDamaged("/CURRENT", "newline");
}

TEST_F(StateDirectory, O_KV_01c_ACurrentWithoutItsNewlineIsRefused) {
  MakeStore();
  std::string name = ReadFile(dir_ / "CURRENT");
  name.pop_back();
  WriteFile(dir_ / "CURRENT", name);
  ExpectDamaged("/CURRENT", name);
}

TEST_F(StateDirectory, O_KV_01d_AMissingCurrentBesideOldFilesIsRefusedAndNothingIsCreated) {
  MakeStore();
  fs::remove(dir_ / "CURRENT");
  ExpectDamaged("/CURRENT", "missing");
  EXPECT_FALSE(fs::exists(dir_ / "CURRENT"));
  // Without the identity file LevelDB's own files give it away; without those the identity file.
  fs::remove(dir_ / "HOST");
  ExpectDamaged("/CURRENT", "missing");
}

TEST_F(StateDirectory, O_KV_01d_ADirectoryThatLostAllOfLevelDbsFilesIsRefused) {
  MakeStore();
  for (const auto& entry : fs::directory_iterator(dir_)) {
    if (entry.path().filename() != "HOST") fs::remove(entry.path());
  }
  ExpectDamaged("/CURRENT", "HOST shows that there was a store");
}

TEST_F(StateDirectory, AMissingOrOtherManifestIsRefused) {
  MakeStore();
  const fs::path manifest = Manifest();
  fs::rename(manifest, root_ / "kept");
  ExpectDamaged(manifest.filename().string(), "missing");
  WriteFile(dir_ / "CURRENT", "HOST\n");
  ExpectDamaged("/CURRENT", "no MANIFEST");
  WriteFile(dir_ / "CURRENT", "MANIFEST-../HOST\n");
  ExpectDamaged("/CURRENT", "no MANIFEST");
}

TEST_F(StateDirectory, ADamagedManifestIsRefused) {
  MakeStore();
  std::string bytes = ReadFile(Manifest());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  WriteFile(Manifest(), bytes);
  const absl::Status status = Open().status();
  EXPECT_THAT(status, ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir_.string()));
}

TEST_F(StateDirectory, AMissingTableFileIsRefused) {
  MakeStore();
  { ASSERT_THAT(Open(), IsOk()); }  // the log becomes a table file
  int removed = 0;
  for (const auto& entry : fs::directory_iterator(dir_)) {
    if (entry.path().extension() == ".ldb") removed += fs::remove(entry.path());
  }
  ASSERT_GT(removed, 0);
  const absl::Status status = Open().status();
  EXPECT_THAT(status, ReasonIs(Reason::kDataDamaged));
  EXPECT_THAT(std::string(status.message()), HasSubstr(".ldb"));
}

TEST_F(StateDirectory, ADamagedTableFileIsRefusedOrAnswersDataDamaged) {
  MakeStore();
  { ASSERT_THAT(Open(), IsOk()); }
  for (const auto& entry : fs::directory_iterator(dir_)) {
    if (entry.path().extension() != ".ldb") continue;
    std::string bytes = ReadFile(entry);
    bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 0x55);
    WriteFile(entry.path(), bytes);
  }
  const auto store = Open();
  if (!store.ok()) {
    EXPECT_THAT(store, ReasonIs(Reason::kDataDamaged));
    return;
  }
  StoredRow row;
  EXPECT_THAT((*store)->reader().Get(LatestPoint((*store)->reader().Latest()), 1, "k", &row),
              ReasonIs(Reason::kDataDamaged));
}

// LevelDB opens table files when it needs them, and says of a missing one what it says of a key
// that was never written.
TEST_F(StateDirectory, ATableFileThatVanishesMakesNoRowAbsent) {
  MakeStore();
  { ASSERT_THAT(Open(), IsOk()); }  // the log becomes a table file
  std::shared_ptr<engine::Database> database;
  ASSERT_TRUE(engine::Database::Open({.dir = dir_.string()}, &database).ok());
  int removed = 0;
  for (const auto& entry : fs::directory_iterator(dir_)) {
    if (entry.path().extension() == ".ldb") removed += fs::remove(entry.path());
  }
  ASSERT_GT(removed, 0);
  std::string value;
  bool found = true;
  EXPECT_THAT(database->Get(engine::MetaKey("any"), &value, &found),
              ReasonIs(Reason::kDataDamaged));
}

TEST_F(StateDirectory, ADirectoryThatCannotBeMadeIsRefusedWithTheCause) {
  dir_ = "/sys/tidemark";  // nobody makes directories there
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  // The cause, not that the directory is missing after that.
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("No such file")));
}

TEST_F(StateDirectory, ALockFileThatCannotBeOpenedIsNotCalledInUse) {
  MakeStore();
  fs::remove(dir_ / "LOCK");
  fs::create_directory(dir_ / "LOCK");
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Is a directory"));
}

TEST_F(StateDirectory, ADirectoryInUseIsRefused) {
  MakeStore();
  const auto store = Open();
  ASSERT_THAT(store, IsOk());
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("/LOCK"), HasSubstr("in use")));
}

TEST_F(StateDirectory, ADirectoryInUseByAnotherProcessIsRefused) {
  MakeStore();
  // The other process holds the store from its word on `opened` until `done` is closed.
  int opened[2], done[2];
  ASSERT_EQ(pipe(opened), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t other = fork();
  if (other == 0) {
    close(done[1]);
    const auto store = Open();
    char word = store.ok() ? 'y' : 'n';
    if (write(opened[1], &word, 1) == 1) {
      while (read(done[0], &word, 1) > 0) {
      }
    }
    _exit(0);
  }
  close(done[0]);
  char word = 'n';
  ASSERT_EQ(read(opened[0], &word, 1), 1);
  ASSERT_EQ(word, 'y');
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("/LOCK"), HasSubstr("in use")));
  close(done[1]);
  int exit_status = -1;
  ASSERT_EQ(waitpid(other, &exit_status, 0), other);
  close(opened[0]);
  close(opened[1]);
  ExpectWhole();  // the lock went with the process
}

TEST_F(StateDirectory, ADirectoryOfAnotherHostIsRefusedUntilItsIdentityFileIsDeleted) {
  MakeStore();
  const auto before = Contents();
  const absl::Status status = Open("other-host").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("/HOST"), HasSubstr("this-host"), HasSubstr("other-host")));
  EXPECT_EQ(Contents(), before);
  fs::remove(dir_ / "HOST");
  EXPECT_THAT(Open("other-host"), IsOk());
  EXPECT_THAT(Open("this-host"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(StateDirectory, ADamagedIdentityFileIsRefused) {
  MakeStore();
  for (const char* content :
       {"", "host this-host\n", "tidemark state directory 2\nhost a\nstate ready\n"}) {
    WriteFile(dir_ / "HOST", content);
    ExpectDamaged("/HOST", "identity file");
  }
}

TEST_F(StateDirectory, AnUnknownFormatVersionIsRefused) {
  MakeStore();
  {
    std::shared_ptr<engine::Database> database;
    ASSERT_TRUE(
        engine::Database::Open({.dir = dir_.string(), .block_cache_bytes = 1 << 20}, &database)
            .ok());
    leveldb::WriteBatch batch;
    batch.Put(engine::MetaKey(engine::kFormatName), engine::FormatValue(99));
    ASSERT_TRUE(database->Write(&batch).ok());
  }
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(dir_.string()), HasSubstr("format version 99")));
}

TEST_F(StateDirectory, ADatabaseOfAnotherProgramIsRefused) {
  fs::create_directory(dir_);
  {
    leveldb::Options options;
    options.create_if_missing = true;
    leveldb::DB* db = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, dir_.string(), &db).ok());
    const std::unique_ptr<leveldb::DB> owned(db);
    ASSERT_TRUE(owned->Put({}, "theirs", "value").ok());
  }
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no state store"));
}

TEST_F(StateDirectory, ADirectoryThatCannotBeMadeIsUnavailable) {
  WriteFile(dir_, "a file is in the way");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(StateDirectory, ACreationThatWasInterruptedIsFinished) {
  // What a crash between the first mark and CURRENT leaves behind.
  fs::create_directory(dir_);
  WriteFile(dir_ / "HOST", "tidemark state directory 1\nhost this-host\nstate creating\n");
  WriteFile(dir_ / "MANIFEST-000001", "half");
  const auto store = Open();
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ((*store)->reader().Latest()->id(), kFirstSnapshot);
}

}  // namespace
}  // namespace tidemark::state
