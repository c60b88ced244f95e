#include "server/ingest/source.h"

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark::ingest {
namespace {

using ::testing::ElementsAre;

// A source that only notes what it is told.
class NotingSource final : public Source {
 public:
  NotingSource(std::string name, std::vector<std::string>& log)
      : name_(std::move(name)), log_(log) {}
  const std::string& name() const override { return name_; }
  void Start() override { log_.push_back("start " + name_); }
  void Stop() override { log_.push_back("stop " + name_); }
  absl::Status Pause() override { return absl::OkStatus(); }
  absl::Status Resume() override { return absl::OkStatus(); }
  SourceStatus Status() const override { return {}; }
  absl::StatusOr<std::string> ParsePosition(std::string_view text) const override {
    return std::string(text);
  }
  std::string FormatPosition(std::string_view position) const override {
    return std::string(position);
  }
  std::shared_ptr<void> WhenPast(std::string_view, Callback) override { return nullptr; }
  std::shared_ptr<void> WhenRecent(Callback) override { return nullptr; }
  absl::Time FreshAsOf() const override { return absl::InfinitePast(); }

 private:
  std::string name_;
  std::vector<std::string>& log_;
};

TEST(SourceSetTest, FindsSourcesByNameAndStartsAndStopsAll) {
  std::vector<std::string> log;
  std::vector<std::unique_ptr<Source>> sources;
  for (const char* name : {"shop", "erp", "crm"}) {
    sources.push_back(std::make_unique<NotingSource>(name, log));
  }
  SourceSet set(std::move(sources));
  EXPECT_EQ(set.Find("erp")->name(), "erp");
  EXPECT_EQ(set.Find("shop")->name(), "shop");
  EXPECT_EQ(set.Find("er"), nullptr);
  EXPECT_EQ(set.Find("zzz"), nullptr);
  set.StartAll();
  set.StopAll();
  EXPECT_THAT(log, ElementsAre("start crm", "start erp", "start shop", "stop crm", "stop erp",
                               "stop shop"));
}

TEST(SourceSetTest, EmptySetFindsNothing) { EXPECT_EQ(SourceSet({}).Find("erp"), nullptr); }

TEST(SourceSetDeathTest, TwoSourcesOfOneNameAreAProgrammersError) {
  std::vector<std::string> log;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<NotingSource>("erp", log));
  sources.push_back(std::make_unique<NotingSource>("erp", log));
  EXPECT_DEATH(SourceSet set(std::move(sources)), "check failed");
}

TEST(SourceStateTest, NamesAreThoseOfTheApi) {
  EXPECT_EQ(SourceStateName(SourceState::kStarting), "STARTING");
  EXPECT_EQ(SourceStateName(SourceState::kCopying), "COPYING");
  EXPECT_EQ(SourceStateName(SourceState::kStreaming), "STREAMING");
  EXPECT_EQ(SourceStateName(SourceState::kPaused), "PAUSED");
  EXPECT_EQ(SourceStateName(SourceState::kRetrying), "RETRYING");
  EXPECT_EQ(SourceStateName(SourceState::kGap), "GAP");
  EXPECT_EQ(SourceStateName(SourceState::kFenced), "FENCED");
  EXPECT_EQ(SourceStateName(SourceState::kFailed), "FAILED");
}

}  // namespace
}  // namespace tidemark::ingest
