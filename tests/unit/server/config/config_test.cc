#include "server/config/config.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config/config_keys.h"
#include "server/config/source_config.h"
#include "tests/support/status_matchers.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

// The message of the complaint about `yaml`.
std::string Complaint(const std::string& yaml) {
  const auto config = ParseConfig(yaml, {.file = "conf/tidemark.yaml"});
  EXPECT_THAT(config, StatusIs(absl::StatusCode::kInvalidArgument)) << yaml;
  return std::string(config.status().message());
}

Config Parse(const std::string& yaml, ConfigOrigin origin = {.file = "/etc/tm/tidemark.yaml"}) {
  auto config = ParseConfig(yaml, origin);
  EXPECT_THAT(config, IsOk()) << yaml;
  return config.ok() ? *std::move(config) : Config();
}

constexpr char kSource[] =
    "sources:\n"
    "  - name: erp\n"
    "    kind: postgres\n"
    "    dsn_file: erp.dsn\n";
constexpr char kTable[] =
    "tables:\n"
    "  - name: orders\n"
    "    key: [id]\n"
    "    tier: seconds\n"
    "    readers: [default]\n"
    "    columns: {id: int, status: string}\n"
    "    from: {source: erp, relation: public.orders}\n";

TEST(ConfigTest, WithoutAFileTheDefaultsServeThisMachineAlone) {
  const Config config = Parse("", {.data_dir = "/var/lib/tm"});
  EXPECT_EQ(config.listen, "127.0.0.1:7400");
  EXPECT_EQ(config.metrics_listen, "127.0.0.1:7401");
  EXPECT_EQ(config.drain_deadline, absl::Seconds(20));
  EXPECT_EQ(config.max_message_bytes, 4194304u);
  EXPECT_EQ(config.max_concurrent_calls, 2000u);
  EXPECT_EQ(config.state_dir, "/var/lib/tm/state");
  EXPECT_EQ(config.block_cache, 256u << 20);
  EXPECT_EQ(config.row_cache, 512u << 20);
  EXPECT_EQ(config.max_batch_bytes, 8u << 20);
  EXPECT_EQ(config.max_transaction_bytes, 64u << 20);
  EXPECT_EQ(config.log_level, LogLevel::kInfo);
  EXPECT_THAT(config.sources, IsEmpty());
  EXPECT_THAT(config.tables, IsEmpty());
}

TEST(ConfigTest, EveryKeyIsRead) {
  const Config config = Parse(
      "server:\n"
      "  listen: 0.0.0.0:1234\n"
      "  metrics_listen: '[::1]:1235'\n"
      "  drain_deadline: 1m30s\n"
      "  max_message_bytes: 8MiB\n"
      "  max_concurrent_calls: 7\n"
      "auth: {token_file: tokens.yaml}\n"
      "state:\n"
      "  dir: s\n"
      "  block_cache: 1GiB\n"
      "  row_cache: 0\n"
      "  max_batch_bytes: 65536\n"
      "  max_transaction_bytes: 100KiB\n"
      "  retain_for: 7d\n"
      "  min_snapshots: 5\n"
      "  tombstone_keep: 12h\n"
      "log: {level: debug}\n"
      "sources:\n"
      "  - name: erp\n"
      "    kind: postgres\n"
      "    dsn_file: /run/secrets/erp.dsn\n"
      "    slot: tidemark_main\n"
      "    publication: p1\n"
      "    on_gap: stop\n"
      "    probe_every: 250ms\n"
      "    relations: [public.orders, public.lines]\n");
  EXPECT_EQ(config.listen, "0.0.0.0:1234");
  EXPECT_EQ(config.metrics_listen, "[::1]:1235");
  EXPECT_EQ(config.drain_deadline, absl::Seconds(90));
  EXPECT_EQ(config.max_message_bytes, 8u << 20);
  EXPECT_EQ(config.max_concurrent_calls, 7u);
  EXPECT_EQ(config.token_file, "/etc/tm/tokens.yaml");
  EXPECT_EQ(config.state_dir, "/etc/tm/s");
  EXPECT_EQ(config.block_cache, 1u << 30);
  EXPECT_EQ(config.row_cache, 0u);
  EXPECT_EQ(config.max_batch_bytes, 65536u);
  EXPECT_EQ(config.max_transaction_bytes, 102400u);
  EXPECT_EQ(config.retain_for, absl::Hours(7 * 24));
  EXPECT_EQ(config.min_snapshots, 5u);
  EXPECT_EQ(config.tombstone_keep, absl::Hours(12));
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
  ASSERT_EQ(config.sources.size(), 1u);
  const SourceConfig& source = config.sources[0];
  EXPECT_EQ(source.name, "erp");
  EXPECT_EQ(source.kind, "postgres");
  EXPECT_EQ(source.dsn_file, "/run/secrets/erp.dsn");
  EXPECT_EQ(source.slot, "tidemark_main");
  EXPECT_EQ(source.publication, "p1");
  EXPECT_FALSE(source.resnapshot_on_gap);
  EXPECT_EQ(source.probe_every, absl::Milliseconds(250));
  EXPECT_THAT(source.relations, ElementsAre("public.orders", "public.lines"));
}

TEST(ConfigTest, ASourceNeedsLittle) {
  const SourceConfig source = Parse(kSource).sources.at(0);
  EXPECT_EQ(source.dsn_file, "/etc/tm/erp.dsn");
  EXPECT_EQ(source.slot, "");
  EXPECT_EQ(source.publication, "tidemark");
  EXPECT_TRUE(source.resnapshot_on_gap);
  EXPECT_EQ(source.probe_every, absl::Seconds(1));
  EXPECT_THAT(source.relations, IsEmpty());
}

TEST(ConfigTest, TheStateLiesInTheDataDirectoryAndEverythingElseBesideTheFile) {
  const Config config = Parse(std::string(kSource) + "state: {dir: sub/state}\n",
                              {.file = "/etc/tm/tidemark.yaml", .data_dir = "/data"});
  EXPECT_EQ(config.state_dir, "/data/sub/state");
  EXPECT_EQ(config.sources[0].dsn_file, "/etc/tm/erp.dsn");
  EXPECT_EQ(Parse("state: {dir: /abs}", {.data_dir = "/data"}).state_dir, "/abs");
  EXPECT_EQ(Parse("", {.file = "tidemark.yaml"}).state_dir, "state");
}

TEST(ConfigTest, FlagsOverrideTheFile) {
  const Config config = Parse("server: {listen: '127.0.0.1:1'}\nlog: {level: error}\n",
                              {.file = "f.yaml",
                               .listen = "127.0.0.1:2",
                               .metrics_listen = "off",
                               .log_level = LogLevel::kDebug});
  EXPECT_EQ(config.listen, "127.0.0.1:2");
  EXPECT_EQ(config.metrics_listen, "off");
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
}

TEST(ConfigTest, WhoAsksForAFreePortGetsAFreePortForMetricsToo) {
  EXPECT_EQ(Parse("", {.data_dir = "d", .listen = "127.0.0.1:0"}).metrics_listen, "127.0.0.1:0");
}

TEST(ConfigTest, WithoutAuthenticationOnlyLoopbackIsServed) {
  for (const char* listen : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.org:1", "127.evil.org:1",
                             "localhost.evil.org:1"}) {
    const auto config = ParseConfig("", {.data_dir = "d", .listen = listen});
    EXPECT_THAT(config, StatusIs(absl::StatusCode::kInvalidArgument)) << listen;
    EXPECT_THAT(std::string(config.status().message()), HasSubstr("loopback only")) << listen;
  }
  EXPECT_THAT(Complaint("server: {metrics_listen: '0.0.0.0:1'}"), HasSubstr("loopback only"));
  for (const char* listen :
       {"127.0.0.1:1", "127.3.2.1:1", "localhost:1", "[::1]:1", "unix:/run/x"}) {
    EXPECT_THAT(ParseConfig("", {.data_dir = "d", .listen = listen}), IsOk()) << listen;
  }
  EXPECT_THAT(ParseConfig("auth: {token_file: t}", {.data_dir = "d", .listen = "0.0.0.0:1"}),
              IsOk());
}

TEST(ConfigTest, EveryComplaintNamesFileLineAndWhatWouldBeRight) {
  const struct {
    const char* yaml;
    const char* complaint;
  } cases[] = {
      {"server:\n  listn: x\n",
       "conf/tidemark.yaml: line 2: \"server\" has no key \"listn\"; known "
       "are \"listen\", \"metrics_listen\""},
      {"sever: {}\n", "line 1: the configuration has no key \"sever\""},
      {"server: 7\n", "line 1: \"server\" must be a mapping"},
      {"log: {level: info}\nlog: {level: info}\n", "line 2: the configuration has \"log\" twice"},
      {"state:\n  dir: [a]\n", "line 2: state.dir must be a single value"},
      {"state:\n\n  row_cache: 128MB\n", "line 3: state.row_cache must be a size such as 256MiB"},
      {"state: {row_cache: -1}\n", "line 1: state.row_cache must be a size"},
      {"state: {block_cache: 1KiB}\n",
       "line 1: state.block_cache must be from 1MiB to 1024GiB; it is "
       "\"1KiB\"."},
      {"state: {max_batch_bytes: 99999999999999999999GiB}\n", "must be a size"},
      {"server: {drain_deadline: 20}\n", "line 1: server.drain_deadline must be a span such as"},
      {"server: {drain_deadline: -1s}\n", "line 1: server.drain_deadline must be from 0 to 1h"},
      {"server: {drain_deadline: inf}\n", "line 1: server.drain_deadline must be a span"},
      {"server: {max_message_bytes: 1MiB}\n", "must be from 4MiB to 64MiB"},
      {"server: {max_concurrent_calls: many}\n",
       "line 1: server.max_concurrent_calls must be a whole number; it is \"many\"."},
      {"server: {max_concurrent_calls: 0}\n", "must be from 1 to 100000"},
      {"server: {listen: here}\n", "server.listen must be host:port"},
      {"server: {listen: '127.0.0.1:99999'}\n", "server.listen must be host:port"},
      {"server: {metrics_listen: 'unix:/x'}\n", "server.metrics_listen must be host:port"},
      {"log: {level: loud}\n",
       "line 1: log.level must be debug, info, warning or error; it is "
       "\"loud\"."},
      {"auth: {token_file: ''}\n", "line 1: auth.token_file must be a path"},
      {"a: [\n", "this is not YAML"},
      {"- a\n", "line 1: the configuration must be a mapping"},
      {"sources: {}\n", "line 1: \"sources\" must be a list"},
      {"sources:\n  - kind: postgres\n", "line 2:"},
      {"sources:\n  - name: erp\n    kind: oracle\n    dsn_file: x\n",
       "line 3: there is no source of kind \"oracle\"; known is \"postgres\"."},
      {"sources:\n  - name: erp\n    kind: postgres\n", "line 2:"},
      {"sources:\n  - {name: erp, kind: postgres, dsn_file: x, slot: Main-1}\n",
       "line 2: slot must have 1 to 63 of a-z, 0-9 and _; it is \"Main-1\"."},
      {"sources:\n  - {name: erp, kind: postgres, dsn_file: x, on_gap: maybe}\n",
       "line 2: on_gap must be \"resnapshot\" or \"stop\"; it is \"maybe\"."},
      {"sources:\n  - {name: erp, kind: postgres, dsn_file: x, probe_every: 1ms}\n",
       "line 2: probe_every must be from 100ms to 1h"},
      {"sources:\n  - {name: erp, kind: postgres, dsn_file: x, dsn: secret}\n",
       "line 2: a source has no key \"dsn\""},
      {"sources:\n  - {name: erp, kind: postgres, dsn_file: x}\n"
       "  - {name: erp, kind: postgres, dsn_file: y}\n",
       "line 3: there are two sources \"erp\"."},
      {"sources:\n  - {name: a, kind: postgres, dsn_file: x, slot: s}\n"
       "  - {name: b, kind: postgres, dsn_file: x, slot: s}\n",
       "line 3: two sources use the slot \"s\"."},
  };
  for (const auto& c : cases) EXPECT_THAT(Complaint(c.yaml), HasSubstr(c.complaint)) << c.yaml;
}

TEST(ConfigTest, WhatComesLaterIsRefusedByName) {
  const struct {
    const char* yaml;
    const char* key;
  } cases[] = {
      {"postgres:\n  pool_size: 8\n", "\"postgres\""},
      {"tools: []\n", "\"tools\""},
      {"decisions_dir: d\n", "\"decisions_dir\""},
      {"connectors_dir: c\n", "\"connectors_dir\""},
      {"state: {auto_tags: [{every: 1d}]}\n", "\"auto_tags\""},
      {"state: {backup_dir: b}\n", "\"backup_dir\""},
      {"sources:\n  - {name: shop, kind: grpc}\n", "\"grpc\""},
      {"sources:\n  - {name: shop, kind: file, dsn_file: x}\n", "\"file\""},
      {"sources:\n  - {name: shop, kind: kafka}\n", "\"kafka\""},
  };
  for (const auto& c : cases) {
    const std::string complaint = Complaint(c.yaml);
    EXPECT_THAT(complaint, HasSubstr("line "));
    EXPECT_THAT(complaint, HasSubstr(c.key));
    EXPECT_THAT(complaint, HasSubstr("not yet available"));
  }
}

TEST(ConfigTest, TablesAreReadWithTheSourcesTheyNeed) {
  const Config config = Parse(std::string(kSource) + kTable);
  ASSERT_EQ(config.tables.size(), 1u);
  EXPECT_EQ(config.tables[0].name, "orders");
  EXPECT_THAT(Complaint(kTable), HasSubstr("line "));
  EXPECT_THAT(Complaint(std::string(kSource) + "    relations: [public.other]\n" + kTable),
              HasSubstr("line 2: source \"erp\" does not list the relation \"public.orders\""));
}

TEST(ConfigTest, WhatIsPrintedIsTheSameConfigurationAgain) {
  const std::string yaml = std::string(kSource) +
                           "    slot: s1\n    relations: [public.orders, 'odd: \"name\"']\n" +
                           kTable + "server: {drain_deadline: 90s}\nstate: {retain_for: 7d}\n" +
                           "auth: {token_file: t.yaml}\n";
  const Config config = Parse(yaml);
  const std::string printed = PrintConfig(config);
  const Config again = Parse(printed, {.file = "/etc/tm/tidemark.yaml"});
  EXPECT_EQ(PrintConfig(again), printed);
  EXPECT_EQ(again.sources[0].relations, config.sources[0].relations);
  EXPECT_EQ(again.tables[0].Canonical(), config.tables[0].Canonical());
  EXPECT_EQ(again.drain_deadline, absl::Seconds(90));
  EXPECT_EQ(again.token_file, "/etc/tm/t.yaml");
}

TEST(ConfigTest, TheDefaultsPrintToo) {
  const std::string printed = PrintConfig(Parse("", {.data_dir = "/d"}));
  Config config;
  for (const ConfigKey& key : ConfigKeys(config)) {
    EXPECT_THAT(printed, HasSubstr(std::string(key.name) + ":")) << key.section << "." << key.name;
  }
  EXPECT_THAT(ParseConfig(printed, {.data_dir = "/d"}), IsOk());
}

TEST(ConfigTest, SecretsAreInFilesThatPrintingDoesNotOpen) {
  const std::filesystem::path dir =
      std::filesystem::path(::testing::TempDir()) / "config_test_secrets";
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "erp.dsn") << "password=hunter2";
  const Config config = Parse(kSource, {.file = (dir / "tidemark.yaml").string()});
  EXPECT_THAT(PrintConfig(config), HasSubstr((dir / "erp.dsn").string()));
  EXPECT_THAT(PrintConfig(config), Not(HasSubstr("hunter2")));
}

TEST(ConfigTest, AFileThatCannotBeReadIsNamedWithTheCause) {
  const auto missing = LoadConfig({.file = "/no/such/tidemark.yaml"});
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(missing.status().message(),
            "cannot read /no/such/tidemark.yaml: No such file or directory");
  const auto directory = LoadConfig({.file = "/tmp"});
  EXPECT_EQ(directory.status().message(), "cannot read /tmp: it is a directory");
}

TEST(ConfigTest, SpansHaveUnits) {
  EXPECT_THAT(ParseSpan("500ms"), testing::IsOkAndHolds(absl::Milliseconds(500)));
  EXPECT_THAT(ParseSpan("7d"), testing::IsOkAndHolds(absl::Hours(168)));
  EXPECT_THAT(ParseSpan("1h30m"), testing::IsOkAndHolds(absl::Minutes(90)));
  for (const char* text : {"", "d", "1", "-1d", "1.5d", "1w", "inf", "-inf", "999999999d", " 1s"}) {
    const auto span = ParseSpan(text);
    const bool refused = !span.ok() || *span < absl::ZeroDuration();
    EXPECT_TRUE(refused) << text;
  }
  for (const absl::Duration span :
       {absl::Milliseconds(250), absl::Seconds(90), absl::Hours(5), absl::Hours(48)}) {
    EXPECT_THAT(ParseSpan(SpanAsWritten(span)), testing::IsOkAndHolds(span));
  }
  EXPECT_EQ(SpanAsWritten(absl::Hours(48)), "2d");
}

TEST(ConfigTest, ASlotThatIsNotNamedIsNamedAfterInstanceAndSource) {
  EXPECT_EQ(DefaultSlot("a1b2", "erp"), "tidemark_a1b2_erp");
  EXPECT_EQ(DefaultSlot("a1b2", "ERP-west.2"), "tidemark_a1b2_erp_west_2");
  EXPECT_EQ(DefaultSlot("a1b2", std::string(200, 'x')).size(), 63u);
}

}  // namespace
}  // namespace tidemark
