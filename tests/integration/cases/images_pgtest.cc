// What readers are told of changes whose events leave things out: images, keys, truncates.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/cases/case_world.h"
#include "tests/support/rpc_matchers.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// `items` mirrors a relation; `sums` adds it up by account.
constexpr char kSchema[] =
    "CREATE TABLE accounts (account text PRIMARY KEY, bank text); "
    "CREATE TABLE items (id int PRIMARY KEY, account text, qty int, note text); "
    "ALTER TABLE items ALTER COLUMN note SET STORAGE EXTERNAL; "
    "INSERT INTO accounts VALUES ('A', 'B'); "
    "CREATE PUBLICATION tidemark FOR TABLE accounts, items;";
constexpr char kTables[] = R"(
  - name: items
    key: [id]
    readers: [default]
    columns: {id: int, note: string, qty: int}
    from: {source: erp, relation: public.items}
  - name: sums
    key: [account]
    readers: [default]
    columns: {account: string, bank: string, sum: int}
    groups:
      - {name: accounts, from: {source: erp, relation: public.accounts},
         columns: {bank: bank}}
      - {name: sums, from: {source: erp, relation: public.items}, group_by: {account: account},
         aggregates: {sum: {sum: qty}}}
)";

std::string Row(int id, const std::string& note, int qty) {
  return "id=" + std::to_string(id) + " note=" + note + " qty=" + std::to_string(qty);
}

class ImagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PostgresBinDir().empty()) GTEST_SKIP() << "PostgreSQL is not installed";
    world_ = std::make_unique<CaseWorld>(kSchema, kTables);
  }
  // With rows there; `start_` is the snapshot that has them all.
  void Start(const std::string& sql) {
    world_->sql().Exec(sql);
    ASSERT_TRUE(world_->Start()) << world_->output();
    start_ = world_->Now();
  }
  // A snapshot of the history after `start_`, by a change in it.
  Texts RowsAfter(uint64_t snapshots) {
    for (const auto& message : world_->Messages(start_, {"items"})) {
      if (message.at().snapshot_id() == start_.snapshot_id() + snapshots) {
        return world_->Rows("items", message.at());
      }
    }
    return {"no such snapshot"};
  }

  std::unique_ptr<CaseWorld> world_;
  v1::SnapshotStamp start_;
};

// Case O-CDC-03. pgoutput says of an unchanged large value that it is unchanged, where Debezium
// sends a marker text: no text of the stream can be taken for one.
TEST_F(ImagesTest, OCDC03_AnUnchangedLargeValueIsInEveryImage) {
  const std::string large(20000, 'L');
  const std::string old2(20000, 'O');
  const std::string new2(20000, 'N');
  Start("INSERT INTO items VALUES (1, 'A', 1, '" + large + "'), (2, 'A', 2, '" + old2 + "')");
  world_->sql().Exec("SELECT pg_create_logical_replication_slot('" + world_->slot() +
                     "_peek', 'pgoutput')");
  // What waits while the source is paused comes in one batch.
  grpc::ClientContext pause, resume;
  v1::PauseSourceRequest pause_erp;
  pause_erp.set_name("erp");
  v1::PauseSourceResponse paused;
  ASSERT_THAT(world_->ingest().PauseSource(&pause, pause_erp, &paused), RpcOk());
  world_->sql().Exec("UPDATE items SET qty = 10 WHERE id = 1");
  EXPECT_EQ(world_->sql().Value("SELECT max(length(data)) < 1000 FROM "
                                "pg_logical_slot_peek_binary_changes('" +
                                world_->slot() +
                                "_peek', NULL, NULL, 'proto_version', '1', "
                                "'publication_names', 'tidemark')"),
            "t")
      << "the stream itself sent the large value, which proves nothing";
  world_->sql().Exec("UPDATE items SET note = '" + new2 + "' WHERE id = 2");
  world_->sql().Exec("UPDATE items SET qty = 11 WHERE id = 1");
  // And all of it in one transaction, which is one change of each row.
  world_->sql().Exec("BEGIN; UPDATE items SET qty = 12 WHERE id = 1; UPDATE items SET note = '" +
                     large + "' WHERE id = 2; UPDATE items SET qty = 3 WHERE id = 2; COMMIT");
  EXPECT_EQ(world_->Rows("items"), world_->Rows("items", start_));
  v1::ResumeSourceRequest resume_erp;
  resume_erp.set_name("erp");
  v1::ResumeSourceResponse resumed;
  ASSERT_THAT(world_->ingest().ResumeSource(&resume, resume_erp, &resumed), RpcOk());
  EXPECT_THAT(world_->Feed(start_, {"items"}),
              ElementsAre("+1 UPDATE items(1) " + Row(1, large, 1) + " -> " + Row(1, large, 10),
                          "+2 UPDATE items(2) " + Row(2, old2, 2) + " -> " + Row(2, new2, 2),
                          "+3 UPDATE items(1) " + Row(1, large, 10) + " -> " + Row(1, large, 11),
                          "+4 UPDATE items(1) " + Row(1, large, 11) + " -> " + Row(1, large, 12),
                          "+4 UPDATE items(2) " + Row(2, new2, 2) + " -> " + Row(2, large, 3)));
  EXPECT_THAT(RowsAfter(1), ElementsAre(Row(1, large, 10), Row(2, old2, 2)));
  EXPECT_THAT(RowsAfter(3), ElementsAre(Row(1, large, 11), Row(2, new2, 2)));
  EXPECT_THAT(world_->Rows("items"), ElementsAre(Row(1, large, 12), Row(2, large, 3)));
}

// Case O-CDC-04.
TEST_F(ImagesTest, OCDC04_TheOldImageComesFromOurOwnState) {
  Start("INSERT INTO items VALUES (1, 'A', 100, 'other'), (5, 'A', 3, 'n')");
  ASSERT_EQ(world_->sql().Value("SELECT relreplident FROM pg_class WHERE relname = 'items'"), "d");
  world_->sql().Exec("UPDATE items SET qty = 9 WHERE id = 5");
  world_->sql().Exec("DELETE FROM items WHERE id = 5");
  EXPECT_THAT(world_->Feed(start_, {"items"}),
              ElementsAre("+1 UPDATE items(5) id=5 note=n qty=3 -> id=5 note=n qty=9",
                          "+2 DELETE items(5) id=5 note=n qty=9"));
  EXPECT_THAT(
      world_->Feed(start_, {"sums"}),
      ElementsAre("+1 UPDATE sums(A) account=A bank=B sum=103 -> account=A bank=B sum=109",
                  "+2 UPDATE sums(A) account=A bank=B sum=109 -> account=A bank=B sum=100"));
}

// Case O-CDC-05.
TEST_F(ImagesTest, OCDC05_AChangedKeyIsADeleteAndAnInsertOfOneSnapshot) {
  Start("INSERT INTO items VALUES (1, 'A', 1, 'x')");
  world_->sql().Exec("UPDATE items SET id = 2 WHERE id = 1");
  EXPECT_THAT(world_->Feed(start_, {"items"}),
              ElementsAre("+1 DELETE items(1) id=1 note=x qty=1",
                          "+1 INSERT items(2) -> id=2 note=x qty=1"));
  EXPECT_THAT(world_->Rows("items", start_), ElementsAre("id=1 note=x qty=1"));
  EXPECT_THAT(RowsAfter(1), ElementsAre("id=2 note=x qty=1"));
  EXPECT_THAT(world_->Feed(start_, {"sums"}), IsEmpty());
}

// Case O-MRG-01, from a real source: c is in a group without a sequence of its own, a and b in one
// that g1 orders. A null that PostgreSQL sends was given.
TEST_F(ImagesTest, OMRG01_TheSequenceOfAGroupDecidesAndItsNullsCount) {
  CaseWorld world(
      "CREATE TABLE parts (k int PRIMARY KEY, a int, b int, g1 int, c text); "
      "CREATE PUBLICATION tidemark FOR TABLE parts; INSERT INTO parts VALUES (1, 10, 20, 5, 'x')",
      R"(
  - name: parts
    key: [k]
    readers: [default]
    columns: {k: int, a: int, b: int, g1: int, c: string}
    groups:
      - {name: rest, from: {source: erp, relation: public.parts}, columns: {c: c}}
      - {name: g1, from: {source: erp, relation: public.parts}, sequence: g1,
         columns: {a: a, b: b, g1: g1}}
)");
  ASSERT_TRUE(world.Start()) << world.output();
  const v1::SnapshotStamp start = world.Now();
  world.sql().Exec("UPDATE parts SET a = NULL, b = 21, g1 = 6, c = NULL");
  world.sql().Exec("UPDATE parts SET a = 99, b = 99, g1 = 4, c = 'y'");
  EXPECT_THAT(
      world.Feed(start, {"parts"}),
      ElementsAre("+1 UPDATE parts(1) a=10 b=20 c=x g1=5 k=1 -> a=null b=21 c=null g1=6 k=1",
                  "+2 UPDATE parts(1) a=null b=21 c=null g1=6 k=1 -> a=null b=21 c=y g1=6 k=1"));
}

// Case O-CDC-11. The feed of a table that mirrors the relation has one TRUNCATE without a key; a
// table assembled from it has the rows that changed.
TEST_F(ImagesTest, OCDC11_ATruncateIsToldWithItsSnapshot) {
  Start("INSERT INTO items VALUES (1, 'A', 1, 'a'), (2, 'A', 2, 'b'), (3, 'A', 3, 'c')");
  const std::string at_40 = world_->sql().Value("SELECT pg_current_wal_lsn()");
  world_->sql().Exec("TRUNCATE items");
  world_->sql().Exec("INSERT INTO items VALUES (4, 'A', 4, 'd')");
  // Rows of before and after it in one transaction with it.
  world_->sql().Exec(
      "BEGIN; INSERT INTO items VALUES (5, 'A', 5, 'gone'); TRUNCATE items; "
      "INSERT INTO items VALUES (6, 'A', 6, 'e'); COMMIT");
  EXPECT_THAT(world_->Feed(start_, {"items"}),
              ElementsAre("+1 TRUNCATE items()", "+2 INSERT items(4) -> id=4 note=d qty=4",
                          "+3 TRUNCATE items()", "+3 INSERT items(6) -> id=6 note=e qty=6"));
  EXPECT_THAT(world_->Feed(start_, {"sums"}),
              ElementsAre("+1 UPDATE sums(A) account=A bank=B sum=6 -> account=A bank=B sum=null",
                          "+2 UPDATE sums(A) account=A bank=B sum=null -> account=A bank=B sum=4",
                          "+3 UPDATE sums(A) account=A bank=B sum=4 -> account=A bank=B sum=6"));
  const Texts three = {"id=1 note=a qty=1", "id=2 note=b qty=2", "id=3 note=c qty=3"};
  EXPECT_EQ(world_->Rows("items", start_), three);
  EXPECT_EQ(world_->Rows("items", AtPosition(at_40)), three);
  EXPECT_THAT(RowsAfter(1), IsEmpty());
  EXPECT_THAT(RowsAfter(2), ElementsAre("id=4 note=d qty=4"));
  EXPECT_THAT(world_->Rows("items"), ElementsAre("id=6 note=e qty=6"));
  EXPECT_THAT(world_->Rows("sums", start_), ElementsAre("account=A bank=B sum=6"));
}

// Case O-CDC-11: a truncate that the publication would leave out is refused before it can be.
TEST_F(ImagesTest, OCDC11_APublicationWithoutTruncateIsRefusedLoudly) {
  world_->sql().Exec("ALTER PUBLICATION tidemark SET (publish = 'insert, update, delete')");
  ASSERT_TRUE(world_->Start()) << world_->output();
  world_->AwaitSource(v1::SOURCE_STATE_FAILED);
  EXPECT_THAT(world_->SourceStatus().detail(), ::testing::HasSubstr("publishes truncate"));
}

}  // namespace
}  // namespace tidemark::testing
