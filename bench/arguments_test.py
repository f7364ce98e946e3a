#!/usr/bin/env python3
"""arguments_test.py PROGRAM WORKLOAD: tests --help and wrong arguments of stele_compare or
stele_server_load. WORKLOAD is one of its workloads.
"""
import subprocess
import sys
import unittest

PROGRAM, WORKLOAD = sys.argv[1:3]
FLAGS = ("--rows N", "--rounds N", "--only WORKLOAD", "--json", "--dir DIRECTORY", "--help, -h")
WRONG = (
    ("--row", "5"),
    ("--rows", "0"),
    ("--rows", "many"),
    ("--rows",),
    ("--rounds", "-1"),
    ("--only", f"{WORKLOAD},unknown"),
    ("--only",),
    ("--engines", "unknown"),
    ("--servers", "unknown"),
    ("--dir",),
    ("scan",),
    ("",),
)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=120)


class Arguments(unittest.TestCase):
    def test_help_lists_flags_and_workloads_on_standard_output(self):
        for arguments in (("--help",), ("-h",), ("--rows", "5000", "--help"), ("--no-such-flag", "-h")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
            for text in (*FLAGS, f"\n  {WORKLOAD} ", "default 3"):
                self.assertIn(text, done.stdout)

    def test_lines_of_help_fit_a_terminal(self):
        self.assertLessEqual(max(map(len, run("--help").stdout.splitlines())), 110)

    def test_a_wrong_argument_is_one_line_that_names_help(self):
        for arguments in WRONG:
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.endswith("; see --help\n"), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
