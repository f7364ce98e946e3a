#!/usr/bin/env python3
"""check_citations fails on each cited number that its page does not explain, and only on these."""
import unittest

from planted_tree import messages

import check_citations

PAGES = {
    "docs/internals/invariants.md": "## Rule 1: order\n\n## Rule 2: replay\n",
    "docs/reference/semantics.md": "| 5 | input | result |\n| 7 | input | result |\n",
}

PLANTED = [
    ("src/wal/log.cc", "// Engine rule 3.\n", "docs/internals/invariants.md has no rule 3"),
    ("src/wal/log.cc", "// Kept by engine rules 1, 2 and 4.\n", "has no rule 4"),
    ("src/wal/log.cc", "// Kept by engine\n// rule 9.\n", "has no rule 9"),
    ("src/wal/log.cc", "// Kept by invariant 2.\n", "cite it as 'engine rule 2'"),
    ("docs/a.md", "See engine rule 12.\n", "has no rule 12"),
    ("tests/unit/wal/log_test.cc", "TEST_F(EngineRulesTest, Rule8IsKept) {}\n", "has no rule 8"),
    ("tests/unit/wal/log_test.cc", "// Semantics row 6.\n", "docs/reference/semantics.md has no row 6"),
    ("tests/data/db/cases.txt", "row 8: nothing\n", "has no row 8"),
    ("docs/internals/invariants.md", "## Rule 1: order\n\n## Rule 3: replay\n", "not numbered from 1"),
]

INNOCENT = [
    ("src/wal/log.cc", "// Engine rules 1 and 2; rule 7 of something else.\n"),
    ("tests/unit/wal/log_test.cc", "TEST_F(EngineRulesTest, Rule2IsKept) {}\n// Semantics row 5.\n"),
    ("tests/data/db/cases.txt", "row 7: a case\n"),
    ("tests/unit/wal/log_test.cc", "row 8: not a file of cases\n"),
]


class CheckCitations(unittest.TestCase):
    def test_each_planted_citation_is_found(self):
        for name, text, expected in PLANTED:
            with self.subTest(name=name, text=text):
                found = messages(check_citations.check, {**PAGES, name: text})
                self.assertEqual(len(found), 1, found)
                self.assertIn(expected, found[0])
                self.assertTrue(found[0].startswith(name), found[0])

    def test_known_numbers_are_clean(self):
        for name, text in INNOCENT:
            with self.subTest(name=name, text=text):
                self.assertEqual(messages(check_citations.check, {**PAGES, name: text}), [])


if __name__ == "__main__":
    unittest.main()
