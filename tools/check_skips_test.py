#!/usr/bin/env python3
"""Shows that a skip is seen, whether CTest or GoogleTest skipped, and that a required label may not be skipped."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
SCRIPT = str(pathlib.Path(__file__).resolve().parent / "check_skips")
LOADER = importlib.machinery.SourceFileLoader("check_skips", SCRIPT)
check_skips = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_skips", LOADER))
LOADER.exec_module(check_skips)

TESTS = json.dumps({"tests": [
    {"name": "state_test", "properties": [{"name": "LABELS", "value": ["unit"]}]},
    {"name": "source_pgtest", "properties": [{"name": "LABELS", "value": ["postgres", "integration"]}]},
    {"name": "plain", "properties": []},
]})


def results(*cases):
    return f'<testsuite name="x">{"".join(cases)}</testsuite>'


PASSED = '<testcase name="state_test" status="run"><system-out>[       OK ] A.B (0 ms)\n</system-out></testcase>'
WHOLE = '<testcase name="source_pgtest" status="notrun"><skipped message="x"/><system-out>gone</system-out></testcase>'
ONE_CASE = ('<testcase name="source_pgtest" status="run"><system-out>[  SKIPPED ] Copy.Resumes (3 ms)\n'
            '[  PASSED  ] 4 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] Copy.Resumes\n</system-out></testcase>')
NO_LABEL = '<testcase name="plain" status="notrun"><skipped message="x"/></testcase>'


class CheckSkipsTest(unittest.TestCase):
    def test_nothing_skipped(self):
        self.assertEqual(check_skips.report(TESTS, results(PASSED), {"postgres"}), (["skipped tests: none"], False))

    def test_a_skipped_binary_counts_under_each_of_its_labels(self):
        lines, failed = check_skips.report(TESTS, results(PASSED, WHOLE), set())
        self.assertFalse(failed)
        self.assertEqual([line.split() for line in lines[1:]],
                         [["integration", "1", "source_pgtest"], ["postgres", "1", "source_pgtest"]])

    def test_one_skipped_case_among_passed_ones_is_seen_once(self):
        lines, failed = check_skips.report(TESTS, results(ONE_CASE), {"postgres"})
        self.assertTrue(failed)
        self.assertIn("postgres        1  REQUIRED HERE: Copy.Resumes", [line.strip() for line in lines])

    def test_a_skip_of_another_label_does_not_fail(self):
        self.assertFalse(check_skips.report(TESTS, results(WHOLE), {"unit"})[1])

    def test_a_test_without_label_is_listed_too(self):
        self.assertIn("(no label)", check_skips.report(TESTS, results(NO_LABEL), set())[0][1])


if __name__ == "__main__":
    unittest.main()
