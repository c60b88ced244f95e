// A transaction is held in memory up to the bound, then in a file that leaves nothing behind.
#include "server/ingest/assembler.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/event_codec.h"
#include "tests/support/status_matchers.h"

namespace tidemark::ingest {
namespace {

using tables::Datum;
using tables::RowEvent;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class AssemblerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string dir = ::testing::TempDir() + "/assembler-XXXXXX";
    ASSERT_NE(mkdtemp(dir.data()), nullptr);
    dir_ = dir;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  bool NothingIn(const std::string& dir) const { return std::filesystem::is_empty(dir); }
  Assembler Make(size_t max_transaction_bytes) {
    return Assembler({.max_transaction_bytes = max_transaction_bytes, .spool_dir = dir_});
  }
  RowEvent Event(int64_t i, size_t payload = 100) const {
    RowEvent event;
    event.schema = schema_;
    event.after = {Datum::Int(i), Datum::String(std::string(payload, 'a' + i % 26))};
    event.sequence = std::to_string(i);
    return event;
  }
  // Reads all; every event must be the one of its number.
  void ExpectEvents(EventList& list, int64_t count, size_t payload = 100) const {
    EXPECT_EQ(list.count(), static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const auto event = list.Next();
      ASSERT_THAT(event, IsOk());
      ASSERT_NE(*event, nullptr);
      const RowEvent expected = Event(i, payload);
      ASSERT_TRUE((*event)->after == expected.after);
      ASSERT_EQ((*event)->sequence, expected.sequence);
      ASSERT_EQ((*event)->schema, schema_);
    }
    for (int i = 0; i < 2; ++i) {
      const auto end = list.Next();
      ASSERT_THAT(end, IsOk());
      EXPECT_EQ(*end, nullptr);
    }
  }

  std::string dir_;
  std::shared_ptr<const tables::RelationSchema> schema_ =
      std::make_shared<tables::RelationSchema>();
};

TEST_F(AssemblerTest, SmallTransactionStaysInMemory) {
  Assembler assembler = Make(1 << 20);
  for (int i = 0; i < 100; ++i) ASSERT_THAT(assembler.Add(Event(i)), IsOk());
  EXPECT_EQ(assembler.count(), 100u);
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(assembler.count(), 0u);
  EXPECT_EQ((*list)->memory_bytes(), (*list)->total_bytes());
  EXPECT_GT((*list)->memory_bytes(), 100u * 100);
  ExpectEvents(**list, 100);
}

TEST_F(AssemblerTest, EmptyTransactionIsAnEmptyList) {
  Assembler assembler = Make(1 << 20);
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  ExpectEvents(**list, 0);
}

TEST_F(AssemblerTest, LargeTransactionIsSpooledAndReadsBackInOrder) {
  Assembler assembler = Make(50000);
  for (int i = 0; i < 10000; ++i) ASSERT_THAT(assembler.Add(Event(i)), IsOk());
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  EXPECT_LT((*list)->memory_bytes(), 1u << 20);
  EXPECT_GT((*list)->total_bytes(), 2u << 20);
  ExpectEvents(**list, 10000);
}

TEST_F(AssemblerTest, EventsLargerThanTheFileBufferReadBack) {
  Assembler assembler = Make(1);
  for (int i = 0; i < 5; ++i) ASSERT_THAT(assembler.Add(Event(i, 700000)), IsOk());
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  ExpectEvents(**list, 5, 700000);
}

TEST_F(AssemblerTest, SpoolFileHasNoNameWhateverHappensToIt) {
  Assembler assembler = Make(1000);
  for (int i = 0; i < 5000; ++i) ASSERT_THAT(assembler.Add(Event(i)), IsOk());
  EXPECT_TRUE(NothingIn(dir_));  // so nothing can be left by kill -9 either
  assembler.Discard();
  EXPECT_EQ(assembler.count(), 0u);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(assembler.Add(Event(i)), IsOk());
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  ExpectEvents(**list, 3);
  EXPECT_TRUE(NothingIn(dir_));
}

TEST_F(AssemblerTest, DiscardedSpoolGivesItsFileBack) {
  const auto open_files = [] {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
      ++count;
    }
    return count;
  };
  const size_t before = open_files();
  Assembler assembler = Make(1);
  ASSERT_THAT(assembler.Add(Event(0)), IsOk());
  EXPECT_EQ(open_files(), before + 1);
  assembler.Discard();
  EXPECT_EQ(open_files(), before);
  ASSERT_THAT(assembler.Add(Event(0)), IsOk());
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(open_files(), before + 1);
  list->reset();
  EXPECT_EQ(open_files(), before);
}

TEST_F(AssemblerTest, MissingSpoolDirectoryIsUnavailableAndSaysSo) {
  Assembler assembler({.max_transaction_bytes = 1, .spool_dir = dir_ + "/absent"});
  const absl::Status status = assembler.Add(Event(0));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir_ + "/absent"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("No such file or directory"));
}

// A file that may not grow fails like a full disk, after part of the data was taken.
TEST_F(AssemblerTest, FullDiskIsUnavailableAndTheNextTransactionMaySucceed) {
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Assembler assembler = Make(1);
  absl::Status status;
  for (int i = 0; i < 100000 && status.ok(); ++i) status = assembler.Add(Event(i));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, old_handler);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()), HasSubstr("File too large"));
  assembler.Discard();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(assembler.Add(Event(i)), IsOk());
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  ExpectEvents(**list, 3);
}

size_t ResidentPeakKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    size_t kib = 0;
    if (absl::StartsWith(line, "VmHWM:") &&
        absl::SimpleAtoi(line.substr(6, line.size() - 6 - 3), &kib)) {
      return kib;
    }
  }
  return 0;
}

// The bound of a transaction of a million rows is max_transaction_bytes and a small constant.
TEST_F(AssemblerTest, MillionRowsPassThroughInBoundedMemory) {
#ifdef TIDEMARK_SANITIZED
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  constexpr int kRows = 1000000;
  constexpr size_t kMaxTransactionBytes = 4 << 20;
  const size_t before = ResidentPeakKib();
  Assembler assembler = Make(kMaxTransactionBytes);
  for (int i = 0; i < kRows; ++i) ASSERT_THAT(assembler.Add(Event(i, 20)), IsOk());
  auto list = assembler.Finish();
  ASSERT_THAT(list, IsOk());
  int read = 0;
  while (true) {
    const auto event = (*list)->Next();
    ASSERT_THAT(event, IsOk());
    if (!*event) break;
    ASSERT_EQ((*event)->after[0].number(), read++);
  }
  EXPECT_EQ(read, kRows);
  EXPECT_LE(ResidentPeakKib() - before, (kMaxTransactionBytes >> 10) * 2 + 4096);
}

}  // namespace
}  // namespace tidemark::ingest
