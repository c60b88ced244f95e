#!/usr/bin/env python3
"""Shows every rule of tools/tidy fire, and stay silent where it must."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tidy_rules  # noqa: E402
import tidy_tables  # noqa: E402


def header(path, body=""):
    guard = "TIDEMARK_" + path.replace("/", "_").replace(".", "_").upper() + "_"
    return f"// What it is.\n#ifndef {guard}\n#define {guard}\n{body}\n#endif  // {guard}\n"


def tree(files):
    """A clean tree with `files` in it, listed in CMake and with a README per top folder."""
    base = {
        "common/clock.h": header("common/clock.h"),
        "storage/state/state_store.h": header("storage/state/state_store.h"),
        "storage/state/engine/reader.h": header("storage/state/engine/reader.h"),
        "server/ingest/source.h": header("server/ingest/source.h"),
        "server/executor.h": header("server/executor.h"),
        "tests/support/a.h": header("tests/support/a.h"),
    }
    base.update(files)
    listed = " ".join(path for path in base if path.endswith((".h", ".cc")) and "unlisted" not in path)
    base.setdefault("CMakeLists.txt", f"tidemark_library(NAME x SRCS {listed})\n")
    for path in list(base):
        top = path.split("/")[0]
        if "/" in path and top not in ("no_readme", "wordy"):
            base.setdefault(f"{top}/README.md", "# It\n")
    return base


# Each: rule, path, text. Exactly this rule must fire, and only on this path.
BROKEN = [
    ("room", "attic/a.cc", "#include <string>\n"),
    ("include-direction", "common/a.cc", '#include "storage/state/state_store.h"\n'),
    ("include-direction", "storage/state/a.cc", '#include "server/executor.h"\n'),
    ("include-direction", "server/ingest/a.cc", '#include "server/executor.h"\n'),
    ("include-direction", "client/src/a.cc", '#include "storage/state/state_store.h"\n'),
    ("include-direction", "server/executor.cc", '#include "tests/support/a.h"\n'),
    ("include-direction", "storage/tables/a.cc", '#include "tidemark/v1/state_service.pb.h"\n'),
    ("include-direction", "server/ingest/b.cc", '#include "tidemark/v1/state_service.grpc.pb.h"\n'),
    ("include-backend", "server/a.cc", '#include "storage/state/engine/reader.h"\n'),
    ("include-path", "common/a.cc", '#include "clock.h"\n'),
    ("include-path", "common/a.cc", '#include "common/gone.h"\n'),
    ("outside-header", "server/ingest/a.cc", "#include <leveldb/db.h>\n"),
    ("outside-header", "storage/state/a.cc", "#include <leveldb/db.h>\n"),
    ("outside-header", "server/services/a.cc", "#include <pqxx/pqxx>\n"),
    ("outside-header", "server/ingest/a.cc", "#include <libpq-fe.h>\n"),
    ("outside-header", "storage/state/a.cc", "#include <grpcpp/grpcpp.h>\n"),
    ("outside-header", "server/ingest/postgres/a.cc", "#include <grpcpp/grpcpp.h>\n"),
    ("outside-header", "server/ingest/a.cc", "#include <simdjson.h>\n"),
    ("outside-header", "storage/state/a.cc", "#include <yaml-cpp/yaml.h>\n"),
    ("outside-header", "storage/state/a.cc", "#include <prometheus/counter.h>\n"),
    ("outside-header", "storage/tables/a.cc", "#include <spdlog/spdlog.h>\n"),
    ("outside-header", "server/executor.h", header("server/executor.h", "#include <nlohmann/json.hpp>")),
    ("outside-header", "common/a.cc", "#include <gtest/gtest.h>\n"),
    ("absl-mutex", "common/a.cc", '#include "absl/synchronization/mutex.h"\n'),
    ("absl-mutex", "common/a.cc", "absl::Notification done;\n"),
    ("detach", "common/a.cc", "thread.detach();\n"),
    ("sleep", "common/a.cc", "std::this_thread::sleep_for(1s);\n"),
    ("sleep", "tests/a_test.cc", "absl::SleepFor(absl::Seconds(1));\n"),
    ("sleep", "common/a.cc", "  sleep(1);\n"),
    ("disabled-test", "tests/a_test.cc", "TEST(A, DISABLED_Works) {}\n"),
    ("not-ok", "tests/a_test.cc", "EXPECT_FALSE(store.Get(key).ok());\n"),
    ("not-ok", "tests/a_test.cc", "ASSERT_FALSE(status.ok());\n"),
    ("using-namespace", "common/clock.h", header("common/clock.h", "using namespace std;")),
    ("output", "server/executor.cc", 'std::cerr << "x";\n'),
    ("output", "storage/state/a.cc", 'printf("x");\n'),
    ("getenv", "server/executor.cc", 'getenv("HOME");\n'),
    ("sql", "server/services/a.cc", 'Run("SELECT id FROM approvals");\n'),
    ("sql", "server/ingest/a.cc", 'Run(R"(\n  UPDATE budgets SET spent = 1)");\n'),
    ("marker", "docs/a.md", "TO" + "DO: write this\n"),
    ("kill-by-name", "dev", "p" + "kill tidemarkd\n"),
    ("machine-path", "dev", "cd /wo" + "rk/main\n"),
    ("machine-path", "dev", "curl https://registry.np" + "mjs.org/x\n"),
    ("long-line", "common/a.cc", "// " + "x" * 98 + "\n"),
    ("long-file", "common/a.cc", "int a;\n" * 401),
    ("header-guard", "common/clock.h", "#ifndef CLOCK_H\n#define CLOCK_H\n#endif\n"),
    ("cmake-glob", "cmake/a.cmake", "file(GLOB sources *.cc)\n"),
    ("cmake-unlisted", "common/unlisted.cc", "int a;\n"),
    ("cmake-unlisted", "common/unlisted.h", header("common/unlisted.h")),
    ("readme", "no_readme/a.txt", "x\n"),
    ("readme", "wordy/README.md", "x\n" * 61),
    ("dead-link", "docs/a.md", "[there](../docs/gone.md)\n"),
]

# Each: path, text. Nothing may fire.
CLEAN = [
    ("bench/a.cc", '#include "storage/state/engine/reader.h"\n'),
    ("server/server.cc", '#include <grpcpp/grpcpp.h>\n'),
    ("server/services/a.cc", '#include "tidemark/v1/state_service.grpc.pb.h"\n#include "server/executor.h"\n'),
    ("server/ingest/postgres/a.cc", '#include <libpq-fe.h>\n#include "server/ingest/source.h"\nRun("IDENTIFY_SYSTEM");\n'),
    ("storage/tables/a.cc", '#include "tidemark/v1/value.pb.h"\n#include "storage/state/state_store.h"\n'),
    ("tests/unit/a_test.cc", '#include <gtest/gtest.h>\n#include "server/executor.h"\n'),
    ("common/a.cc", '// thread.detach() and sleep_for(1s) are banned; so is "SELECT 1".\n'),
    ("common/a.cc", 'Log("do not sleep_for(x)"); /* std::cout */\n'),
    ("common/a.cc", "int b = 'd'; const char* quote = \"\\\"\"; int c = 1'000'000;\n"),
    ("common/a.cc", 'case Op::kUpdate: return "UPDATE"; case Op::kDelete: return "DELETE";\n'),
    ("server/tidemarkd_main.cc", 'std::cout << getenv("HOME");\n'),
    ("tests/a_test.cc", "EXPECT_FALSE(row.has_value());\n"),
    ("tests/a_test.cc", "EXPECT_FALSE(reader.ok());\n"),
    ("docs/a.md", "[the clock](../common/clock.h), [a page](https://example.com), [rooms](../server/ingest)\n"),
    ("proto/third_party/x/a.h", "#include <pqxx/pqxx>\n"),
]


class TidyTest(unittest.TestCase):
    def test_every_rule_fires(self):
        for rule, path, text in BROKEN:
            with self.subTest(rule=rule, path=path, text=text[:60]):
                found = tidy_rules.check(tree({path: text}), exceptions=[])
                self.assertEqual({f.rule for f in found}, {rule}, found)
                for finding in found:
                    self.assertTrue(path.startswith(finding.path), finding)

    def test_clean_code_is_left_alone(self):
        for path, text in CLEAN:
            with self.subTest(path=path, text=text[:60]):
                self.assertEqual(tidy_rules.check(tree({path: text}), exceptions=[]), [])

    def test_a_crowded_folder_is_found(self):
        files = {f"common/m{i}.cc": "int a;\n" for i in range(tidy_rules.MAX_MODULES + 1)}
        found = tidy_rules.check(tree(files), exceptions=[])
        self.assertEqual([(f.rule, f.path) for f in found], [("large-folder", "common")])

    def test_a_file_named_by_foreach_is_listed(self):
        files = tree({"bench/unlisted_a.cc": "int a;\n", "bench/unlisted_b.cc": "int a;\n"})
        files["bench/CMakeLists.txt"] = "foreach(name IN ITEMS unlisted_a other)\n  x(${name}.cc)\nendforeach()\n"
        files["bench/unlisted_a.h"] = header("bench/unlisted_a.h")
        self.assertEqual([f.path for f in tidy_rules.check(files, exceptions=[])], ["bench/unlisted_b.cc"])

    def test_findings_name_the_line(self):
        found = tidy_rules.check(tree({"common/a.cc": "/* one\ntwo */\nt.detach();\n"}), exceptions=[])
        self.assertEqual([f.line for f in found], [3])

    def test_an_exception_excuses_and_a_stale_one_is_found(self):
        files = tree({"common/a.cc": "t.detach();\n"})
        self.assertEqual(tidy_rules.check(files, exceptions=[("detach", r"^common/a\.cc$", "why")]), [])
        found = tidy_rules.check(tree({}), exceptions=[("detach", r"^common/a\.cc$", "why")])
        self.assertEqual([f.rule for f in found], ["stale-exception"])

    def test_every_exception_of_the_project_gives_its_reason(self):
        for rule, _, why in tidy_tables.EXCEPTIONS:
            self.assertGreater(len(why), 20, rule)


if __name__ == "__main__":
    unittest.main()
