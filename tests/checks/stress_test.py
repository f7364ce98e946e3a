#!/usr/bin/env python3
"""Tests how tools/checks/stress.py reads the output of a test program."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/checks"))
from stress import failures_of  # noqa: E402


class FailuresOf(unittest.TestCase):
    def test_a_run_without_failure(self):
        text = "[ RUN      ] A.B\n[       OK ] A.B (3 ms)\n[ RUN      ] A.C\n[  SKIPPED ] A.C (0 ms)\n"
        self.assertEqual(failures_of(text, False), (set(), {"A.B", "A.C"}))

    def test_a_failed_test_is_counted_once(self):
        text = "[ RUN      ] A.B\n[  FAILED  ] A.B (3 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.B\n"
        self.assertEqual(failures_of(text, True), ({"A.B"}, {"A.B"}))

    def test_a_test_with_a_parameter(self):
        text = "[ RUN      ] S/A.B/0\n[  FAILED  ] S/A.B/0, where GetParam() = 4 (3 ms)\n"
        self.assertEqual(failures_of(text, True), ({"S/A.B/0"}, {"S/A.B/0"}))

    def test_a_crash_is_a_failure_of_the_running_test(self):
        text = "[ RUN      ] A.B\n[       OK ] A.B (3 ms)\n[ RUN      ] A.C\nSegmentation fault\n"
        self.assertEqual(failures_of(text, True), ({"A.C"}, {"A.B"}))

    def test_a_failure_between_tests_has_a_name(self):
        self.assertEqual(failures_of("[ RUN      ] A.B\n[       OK ] A.B (3 ms)\n", True)[0], {"(after the last test)"})


if __name__ == "__main__":
    unittest.main()
