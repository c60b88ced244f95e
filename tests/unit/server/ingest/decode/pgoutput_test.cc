#include "server/ingest/decode/pgoutput.h"

#include <cstring>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/server/ingest/decode/pgoutput_writer.h"

namespace tidemark::ingest::pgoutput {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::PgoutputWriter;
using testing::ReasonIs;

// Parses from a buffer of exactly the message's size, so that a sanitizer sees any read past it.
absl::Status ParseExactly(const std::string& bytes, Message* message) {
  static std::vector<std::unique_ptr<char[]>> kept;  // views of the message point there
  kept.push_back(std::make_unique<char[]>(bytes.size()));
  std::memcpy(kept.back().get(), bytes.data(), bytes.size());
  return Parse({kept.back().get(), bytes.size()}, message);
}

template <typename T>
T Parsed(const PgoutputWriter& writer) {
  Message message;
  EXPECT_THAT(ParseExactly(writer.bytes(), &message), IsOk());
  EXPECT_TRUE(std::holds_alternative<T>(message));
  return std::get<T>(message);
}

absl::Time PostgresTime(int64_t micros) {
  return absl::FromUnixSeconds(946684800) + absl::Microseconds(micros);
}

std::vector<PgoutputWriter> OneOfEach() {
  return {
      PgoutputWriter('B').Int64(0x16B3748).Int64(1).Int32(731),
      PgoutputWriter('C').Byte(0).Int64(0x16B3748).Int64(0x16B3778).Int64(1),
      PgoutputWriter('O').Int64(5).String("other"),
      PgoutputWriter('R')
          .Int32(16385)
          .String("public")
          .String("t")
          .Byte('d')
          .Int16(1)
          .Byte(1)
          .String("id")
          .Int32(23)
          .Int32(-1),
      PgoutputWriter('Y').Int32(16400).String("shop").String("mood"),
      PgoutputWriter('I').Int32(16385).Byte('N').Int16(1).Text("7"),
      PgoutputWriter('U').Int32(16385).Byte('K').Int16(1).Text("7").Byte('N').Int16(1).Text("8"),
      PgoutputWriter('D').Int32(16385).Byte('O').Int16(1).Text("7"),
      PgoutputWriter('T').Int32(2).Byte(3).Int32(16385).Int32(16390),
      PgoutputWriter('M')
          .Byte(1)
          .Int64(9)
          .String("probe")
          .Int32(4)
          .Byte('p')
          .Byte('i')
          .Byte('n')
          .Byte('g'),
  };
}

TEST(PgoutputTest, BeginAndCommitCarryPositionsAndTime) {
  const auto begin = Parsed<Begin>(PgoutputWriter('B').Int64(0x16B3748).Int64(1500000).Int32(731));
  EXPECT_EQ(begin.commit_lsn, 0x16B3748u);
  EXPECT_EQ(begin.commit_time, PostgresTime(1500000));
  EXPECT_EQ(begin.xid, 731u);
  const auto commit = Parsed<Commit>(
      PgoutputWriter('C').Byte(0).Int64(0x16B3748).Int64(0xFFFFFFFFFFFFFFFF).Int64(-1));
  EXPECT_EQ(commit.commit_lsn, 0x16B3748u);
  EXPECT_EQ(commit.end_lsn, 0xFFFFFFFFFFFFFFFFu);
  EXPECT_EQ(commit.commit_time, PostgresTime(-1));
}

TEST(PgoutputTest, OriginAndTypeCarryNames) {
  const auto origin = Parsed<Origin>(PgoutputWriter('O').Int64(5).String("other"));
  EXPECT_EQ(origin.commit_lsn, 5u);
  EXPECT_EQ(origin.name, "other");
  const auto type = Parsed<Type>(PgoutputWriter('Y').Int32(16400).String("a\"b").String("mood"));
  EXPECT_EQ(type.id, 16400u);
  EXPECT_EQ(type.schema, "a\"b");
  EXPECT_EQ(type.name, "mood");
}

TEST(PgoutputTest, RelationCarriesColumnsTypesAndIdentity) {
  const auto relation = Parsed<Relation>(PgoutputWriter('R')
                                             .Int32(16385)
                                             .String("public")
                                             .String("Order Lines")
                                             .Byte('i')
                                             .Int16(2)
                                             .Byte(1)
                                             .String("id")
                                             .Int32(23)
                                             .Int32(-1)
                                             .Byte(0)
                                             .String("total")
                                             .Int32(1700)
                                             .Int32(786438));
  EXPECT_EQ(relation.id, 16385u);
  EXPECT_EQ(relation.schema, "public");
  EXPECT_EQ(relation.name, "Order Lines");
  EXPECT_EQ(relation.identity, ReplicaIdentity::kIndex);
  ASSERT_EQ(relation.columns.size(), 2u);
  EXPECT_TRUE(relation.columns[0].key);
  EXPECT_EQ(relation.columns[0].name, "id");
  EXPECT_EQ(relation.columns[0].type, 23u);
  EXPECT_EQ(relation.columns[0].modifier, -1);
  EXPECT_FALSE(relation.columns[1].key);
  EXPECT_EQ(relation.columns[1].modifier, 786438);
}

TEST(PgoutputTest, RowsCarryNullUnchangedAndTextFields) {
  const auto insert = Parsed<RowChange>(
      PgoutputWriter('I').Int32(16385).Byte('N').Int16(4).Text("7").Null().Unchanged().Text(""));
  EXPECT_EQ(insert.op, RowOp::kInsert);
  EXPECT_EQ(insert.relation, 16385u);
  EXPECT_EQ(insert.old_image, OldImage::kNone);
  ASSERT_EQ(insert.after.size(), 4u);
  EXPECT_EQ(insert.after[0].bytes, "7");
  EXPECT_EQ(insert.after[1].kind, FieldKind::kNull);
  EXPECT_EQ(insert.after[2].kind, FieldKind::kUnchanged);
  EXPECT_EQ(insert.after[3].kind, FieldKind::kText);
  EXPECT_EQ(insert.after[3].bytes, "");
}

TEST(PgoutputTest, UpdatesHaveNoOldImageOrItsKeyOrAllOfIt) {
  const auto plain = Parsed<RowChange>(PgoutputWriter('U').Int32(1).Byte('N').Int16(1).Text("8"));
  EXPECT_EQ(plain.old_image, OldImage::kNone);
  EXPECT_TRUE(plain.before.empty());
  const auto key = Parsed<RowChange>(PgoutputWriter('U')
                                         .Int32(1)
                                         .Byte('K')
                                         .Int16(2)
                                         .Text("7")
                                         .Null()
                                         .Byte('N')
                                         .Int16(2)
                                         .Text("8")
                                         .Text("x"));
  EXPECT_EQ(key.old_image, OldImage::kKey);
  ASSERT_EQ(key.before.size(), 2u);
  EXPECT_EQ(key.before[0].bytes, "7");
  EXPECT_EQ(key.after[1].bytes, "x");
  const auto full = Parsed<RowChange>(
      PgoutputWriter('U').Int32(1).Byte('O').Int16(1).Text("7").Byte('N').Int16(1).Text("8"));
  EXPECT_EQ(full.old_image, OldImage::kFull);
}

TEST(PgoutputTest, DeletesHaveTheKeyOrAllOfTheRow) {
  const auto key = Parsed<RowChange>(PgoutputWriter('D').Int32(1).Byte('K').Int16(1).Text("7"));
  EXPECT_EQ(key.op, RowOp::kDelete);
  EXPECT_EQ(key.old_image, OldImage::kKey);
  EXPECT_TRUE(key.after.empty());
  const auto full = Parsed<RowChange>(PgoutputWriter('D').Int32(1).Byte('O').Int16(1).Text("7"));
  EXPECT_EQ(full.old_image, OldImage::kFull);
}

TEST(PgoutputTest, TruncateNamesSeveralRelations) {
  const auto truncate =
      Parsed<Truncate>(PgoutputWriter('T').Int32(2).Byte(2).Int32(16385).Int32(16390));
  EXPECT_FALSE(truncate.cascade);
  EXPECT_TRUE(truncate.restart_identity);
  EXPECT_THAT(truncate.relations, ElementsAre(16385u, 16390u));
}

TEST(PgoutputTest, OCDC12_LogicalMessagesCarryPrefixAndContent) {
  const auto message = Parsed<LogicalMessage>(
      PgoutputWriter('M').Byte(0).Int64(60).String("probe").Int32(2).Byte('\0').Byte('x'));
  EXPECT_FALSE(message.transactional);
  EXPECT_EQ(message.lsn, 60u);
  EXPECT_EQ(message.prefix, "probe");
  EXPECT_EQ(message.content, std::string_view("\0x", 2));
}

TEST(PgoutputTest, ReusedMessagesHoldNothingOfTheLastOne) {
  Message message;
  ASSERT_THAT(Parse(PgoutputWriter('U')
                        .Int32(1)
                        .Byte('O')
                        .Int16(2)
                        .Text("7")
                        .Text("a")
                        .Byte('N')
                        .Int16(2)
                        .Text("8")
                        .Text("b")
                        .bytes(),
                    &message),
              IsOk());
  const std::string bytes = PgoutputWriter('I').Int32(2).Byte('N').Int16(1).Null().bytes();
  ASSERT_THAT(Parse(bytes, &message), IsOk());
  const auto& insert = std::get<RowChange>(message);
  EXPECT_EQ(insert.old_image, OldImage::kNone);
  EXPECT_TRUE(insert.before.empty());
  ASSERT_EQ(insert.after.size(), 1u);
  EXPECT_EQ(insert.after[0].kind, FieldKind::kNull);
  EXPECT_EQ(insert.after[0].bytes, "");
}

TEST(PgoutputTest, EveryCutOfEveryMessageIsMalformed) {
  for (const PgoutputWriter& writer : OneOfEach()) {
    const std::string& bytes = writer.bytes();
    Message message;
    ASSERT_THAT(ParseExactly(bytes, &message), IsOk()) << bytes[0];
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_THAT(ParseExactly(bytes.substr(0, size), &message), ReasonIs(Reason::kEventMalformed))
          << bytes[0] << " cut to " << size;
    }
    EXPECT_THAT(ParseExactly(bytes + '\0', &message), ReasonIs(Reason::kEventMalformed))
        << bytes[0] << " with a byte behind it";
  }
}

TEST(PgoutputTest, ErrorsNameTypeAndOffset) {
  Message message;
  const absl::Status status =
      Parse(PgoutputWriter('I').Int32(16385).Byte('N').Int16(1).Byte('x').bytes(), &message);
  EXPECT_THAT(status, ReasonIs(Reason::kEventMalformed));
  EXPECT_EQ(MetadataValue(status, "message_type"), "I");
  EXPECT_EQ(MetadataValue(status, "offset"), "9");
  EXPECT_EQ(MetadataValue(status, "problem"), "a column is of unknown kind");
}

TEST(PgoutputTest, UnknownTypesKindsAndFlagsAreMalformed) {
  const PgoutputWriter bad[] = {
      PgoutputWriter('S').Int32(1).Byte(1),  // streamed transactions: protocol 2
      PgoutputWriter('\0'),
      PgoutputWriter('C').Byte(1).Int64(1).Int64(1).Int64(1),
      PgoutputWriter('I').Int32(1).Byte('K').Int16(0),
      PgoutputWriter('U').Int32(1).Byte('D').Int16(0),
      PgoutputWriter('U').Int32(1).Byte('K').Int16(0).Byte('K').Int16(0),
      PgoutputWriter('D').Int32(1).Byte('N').Int16(0),
      PgoutputWriter('R').Int32(1).String("s").String("t").Byte('x').Int16(0),
  };
  Message message;
  for (const PgoutputWriter& writer : bad) {
    EXPECT_THAT(ParseExactly(writer.bytes(), &message), ReasonIs(Reason::kEventMalformed))
        << writer.bytes()[0];
  }
}

TEST(PgoutputTest, HostileCountsAllocateNothing) {
  const PgoutputWriter bad[] = {
      PgoutputWriter('I').Int32(1).Byte('N').Int16(0x7fff),
      PgoutputWriter('I').Int32(1).Byte('N').Int16(0xffff),
      PgoutputWriter('I').Int32(1).Byte('N').Int16(1).Byte('t').Int32(0x7fffffff),
      PgoutputWriter('I').Int32(1).Byte('N').Int16(1).Byte('t').Int32(0xffffffff),
      PgoutputWriter('T').Int32(0x7fffffff).Byte(0),
      PgoutputWriter('T').Int32(0xffffffff).Byte(0),
      PgoutputWriter('R').Int32(1).String("s").String("t").Byte('d').Int16(0x7fff),
      PgoutputWriter('M').Byte(0).Int64(1).String("p").Int32(0x7fffffff),
  };
  for (const PgoutputWriter& writer : bad) {
    Message message;
    EXPECT_THAT(ParseExactly(writer.bytes(), &message), ReasonIs(Reason::kEventMalformed));
    if (const auto* truncate = std::get_if<Truncate>(&message)) {
      EXPECT_EQ(truncate->relations.capacity(), 0u);
    }
  }
}

}  // namespace
}  // namespace tidemark::ingest::pgoutput
