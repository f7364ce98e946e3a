#!/usr/bin/env python3
"""check_decisions fails on each departure from the form of a record, and only on these."""
import unittest

from planted_tree import messages

import check_decisions

RECORD = "# 0001: a log\n\nStatus: accepted\n\nDate: 2026-11-21\n\n## Context\n\n## Decision\n\n## Consequences\n"
INDEX = "| [0001](0001-a-log.md) | a log | accepted |\n"
FILE = "docs/decisions/0001-a-log.md"
CLEAN = {FILE: RECORD, "docs/decisions/README.md": INDEX}

PLANTED = [
    ({FILE: RECORD.replace("0001:", "0002:")}, 2, "the number 0002"),
    ({FILE: RECORD.replace("Status: accepted", "Status: maybe")}, 1, "a record begins with"),
    ({FILE: RECORD.replace("Date: 2026-11-21", "Date: today")}, 1, "a record begins with"),
    ({FILE: RECORD.replace("## Decision\n\n", "")}, 1, "the sections of a record"),
    ({FILE: RECORD.replace("## Context", "## Decision")}, 1, "the sections of a record"),
    ({FILE: RECORD + "\n## Lab\n"}, 1, "the sections of a record"),
    ({"docs/decisions/README.md": ""}, 1, "the index lacks"),
    ({FILE: RECORD.replace("a log", "a new log")}, 1, "the index lacks"),
    ({"docs/decisions/log.txt": "figures\n"}, 1, "the name of a record"),
    ({"docs/decisions/0001-b.md": RECORD.replace("a log", "b"),
      "docs/decisions/README.md": INDEX + "| [0001](0001-b.md) | b | accepted |\n"}, 2, "another record"),
]

INNOCENT = [
    {},
    {FILE: RECORD + "\n## Alternatives\n"},
    {FILE: RECORD.replace("accepted", "replaced by [0002](0002-b.md), except\nfor its name")},
]


class CheckDecisions(unittest.TestCase):
    def test_each_departure_is_found(self):
        for planted, count, expected in PLANTED:
            with self.subTest(expected=expected, planted=planted):
                found = messages(check_decisions.check, {**CLEAN, **planted})
                self.assertEqual(len(found), count, found)
                self.assertTrue(any(expected in line for line in found), found)

    def test_the_form_is_clean(self):
        for planted in INNOCENT:
            with self.subTest(planted=planted):
                self.assertEqual(messages(check_decisions.check, {**CLEAN, **planted}), [])


if __name__ == "__main__":
    unittest.main()
