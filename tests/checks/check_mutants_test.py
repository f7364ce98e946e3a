#!/usr/bin/env python3
"""The check of tests/mutants finds each mutant that does not fit the tree, and nothing else."""
import dataclasses
import sys
import unittest

from planted_tree import ROOT, PlantedTree

sys.path.insert(0, str(ROOT / "tests/mutants"))
from planted import Mutant  # noqa: E402
from run import faults_of  # noqa: E402

GOOD = Mutant("wal.1", "reads one byte less", "src/wal/log.cc", "offset + 1", "offset", ("unit_wal",))
TREE = {"src/wal/log.cc": "int Next(int offset) { return offset + 1; }\n"}


class CheckMutants(unittest.TestCase):
    def found(self, *mutants, planted=None):
        with PlantedTree(planted or TREE) as root:
            return faults_of(mutants, root)

    def one(self, text, *mutants, planted=None):
        found = self.found(*mutants, planted=planted)
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])

    def test_a_mutant_that_fits_is_fine(self):
        self.assertEqual(self.found(GOOD), [])

    def test_a_text_that_is_wrapped_differently_fits(self):
        wrapped = TREE["src/wal/log.cc"].replace(" ", "\n    ")
        self.assertEqual(self.found(GOOD, planted={"src/wal/log.cc": wrapped}), [])

    def test_a_text_that_is_gone_is_found(self):
        self.one("occurs 0 times", GOOD, planted={"src/wal/log.cc": "int Next(int offset);\n"})

    def test_a_text_that_is_there_twice_is_found(self):
        self.one("occurs 2 times", GOOD, planted={"src/wal/log.cc": TREE["src/wal/log.cc"] * 2})

    def test_a_file_that_is_gone_is_found(self):
        self.one("occurs 0 times", dataclasses.replace(GOOD, file="src/wal/gone.cc"))

    def test_a_change_of_nothing_is_found(self):
        self.one("changes nothing", dataclasses.replace(GOOD, new=GOOD.old))

    def test_a_mutant_that_nobody_is_to_kill_is_found(self):
        self.one("names no test program", dataclasses.replace(GOOD, killers=()))

    def test_a_name_given_twice_is_found(self):
        self.one("named twice", GOOD, dataclasses.replace(GOOD, what="another"))


if __name__ == "__main__":
    unittest.main()
