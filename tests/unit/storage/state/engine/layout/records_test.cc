// The store's small records: they read back as written, and anything cut or nonsensical is refused.
#include "storage/state/engine/layout/records.h"

#include <functional>

#include "gmock/gmock.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {
namespace {

// Every proper prefix of `bytes`, and `bytes` with one more, is refused.
void ExpectOnlyWhole(const std::string& bytes, const std::function<bool(std::string_view)>& parse) {
  EXPECT_TRUE(parse(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(parse(bytes + '\x01'));
}

TEST(RecordsTest, TheIdentityKeepsItsAncestors) {
  Identity identity;
  identity.incarnation = {1, 2, 3};
  identity.ancestors.push_back({{4, 5, 6}, 700});
  const std::string bytes = IdentityValue(identity);
  Identity read;
  ASSERT_TRUE(ParseIdentity(bytes, &read));
  EXPECT_EQ(read.incarnation, identity.incarnation);
  ASSERT_EQ(read.ancestors.size(), 1u);
  EXPECT_EQ(read.ancestors[0].incarnation, identity.ancestors[0].incarnation);
  EXPECT_EQ(read.ancestors[0].fork, 700);
  ExpectOnlyWhole(bytes, [](std::string_view cut) {
    Identity ignored;
    return ParseIdentity(cut, &ignored);
  });
}

TEST(RecordsTest, TheStateReadsBackAsWritten) {
  const StoreState state{.published = 900,
                         .floor = 500,
                         .open = 901,
                         .next_table = 12,
                         .undo_cleaned = 3,
                         .undo_begin = 5,
                         .undo_end = 8,
                         .next_chunk = 9};
  StoreState read;
  ASSERT_TRUE(ParseState(StateValue(state), &read));
  EXPECT_EQ(StateValue(read), StateValue(state));
  EXPECT_EQ(read.open, 901);
  EXPECT_EQ(read.undo_end, 8);
  ExpectOnlyWhole(StateValue(state), [](std::string_view cut) {
    StoreState ignored;
    return ParseState(cut, &ignored);
  });
}

TEST(RecordsTest, AStateThatCannotBeIsRefused) {
  StoreState read;
  EXPECT_FALSE(ParseState(StateValue({.published = 0}), &read));
  EXPECT_FALSE(ParseState(StateValue({.published = 4, .floor = 5}), &read));
  EXPECT_FALSE(ParseState(StateValue({.published = 4, .next_table = 0}), &read));
  EXPECT_FALSE(ParseState(StateValue({.published = 4, .undo_begin = 2, .undo_end = 1}), &read));
  EXPECT_FALSE(ParseState(StateValue({.published = 4, .undo_cleaned = 1}), &read));
  EXPECT_FALSE(ParseState(StateValue({.published = 4, .undo_end = 1}), &read));
}

TEST(RecordsTest, ATableKeepsItsStorageIds) {
  TableState table;
  table.record.id = 300;
  table.record.definition = "definition";
  table.next_number = 9;
  table.storages = {{1, 5, ""}, {7, 90, "sequence"}};
  table.dropped = {2, 8};
  const std::string key = TableKey(300), bytes = TableValue(table);
  TableState read;
  ASSERT_TRUE(ParseTable(key, bytes, &read));
  EXPECT_EQ(read.record.id, 300);
  EXPECT_EQ(read.record.truncation_sequence, "sequence");
  EXPECT_FALSE(read.record.loading);
  EXPECT_EQ(read.first(), 5);
  EXPECT_EQ(read.current().number, 7);
  EXPECT_EQ(TableValue(read), bytes);
  ExpectOnlyWhole(bytes, [&key](std::string_view cut) {
    TableState ignored;
    return ParseTable(key, cut, &ignored);
  });
  TableState loading;
  loading.record.id = 1;
  loading.storages = {{1, 0, ""}};
  TableState read_loading;
  ASSERT_TRUE(ParseTable(TableKey(1), TableValue(loading), &read_loading));
  EXPECT_TRUE(read_loading.record.loading);
  TableState without;
  without.record.id = 1;
  TableState ignored;
  EXPECT_FALSE(ParseTable(TableKey(1), TableValue(without), &ignored));
}

TEST(RecordsTest, PinsAndTagsReadBackAsWritten) {
  const PinHead head{PinState::kEnding, 12, "S data"};
  PinHead read_head;
  ASSERT_TRUE(ParsePinHead(PinHeadValue(head), &read_head));
  EXPECT_EQ(PinHeadValue(read_head), PinHeadValue(head));
  EXPECT_EQ(read_head.state, PinState::kEnding);
  EXPECT_FALSE(ParsePinHead(PinHeadValue({static_cast<PinState>(3)}), &read_head));

  const PinHolder holder{true, "owner", "reason", absl::FromUnixSeconds(99)};
  PinHolder read_holder;
  ASSERT_TRUE(ParsePinHolder(PinHolderValue(holder), &read_holder));
  EXPECT_EQ(PinHolderValue(read_holder), PinHolderValue(holder));
  EXPECT_TRUE(read_holder.keeps_changes);

  const TagRecord tag{TagState::kExpired, 77, "owner", "reason", absl::FromUnixSeconds(5)};
  TagRecord read_tag;
  ASSERT_TRUE(ParseTag(TagValue(tag), &read_tag));
  EXPECT_EQ(TagValue(read_tag), TagValue(tag));
  EXPECT_EQ(read_tag.snapshot, 77);
  EXPECT_EQ(read_tag.expiry, absl::InfinitePast());
}

}  // namespace
}  // namespace tidemark::state::engine
