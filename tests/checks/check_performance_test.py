#!/usr/bin/env python3
"""check_performance fails if a page differs from bench/results, and can mend it."""
import json
import unittest

from planted_tree import PlantedTree, messages

import check_performance

RESULT = {"title": "Scans", "date": "2026-11-22", "commit": "abc", "machine": "two cores", "command": "scan --all",
          "note": "One round.", "columns": ["workload", "rate"], "rows": [["scan", 2.5], ["get", None]]}
FILE = "bench/results/scan.json"
EMPTY = "# Performance\n\n<!-- results: scan -->\n<!-- end -->\n\nEnd.\n"


def planted(page=EMPTY, **changes):
    return {"docs/performance.md": page, FILE: json.dumps({**RESULT, **changes})}


class CheckPerformance(unittest.TestCase):
    def test_fix_writes_the_table_and_its_origin(self):
        with PlantedTree(planted()) as root:
            self.assertEqual(check_performance.check(root, fix=True), [])
            page = (root / "docs/performance.md").read_text()
            self.assertEqual(check_performance.check(root), [])
        for line in ("    scan --all", "| workload | rate |", "| scan | 2.5 |", "| get | |",
                     "two cores; 2026-11-22, abc. One round.", "End."):
            self.assertIn(line + "\n", page)

    def test_a_page_that_differs_is_found(self):
        found = messages(check_performance.check, planted())
        self.assertEqual(len(found), 1)
        self.assertIn("docs/performance.md:3: differs from bench/results/scan.json", found[0])

    def test_every_page_is_checked(self):
        for page in ("README.md", "docs/reference/server.md"):
            found = messages(check_performance.check, {**planted(), page: EMPTY})
            self.assertTrue(any(line.startswith(f"{page}:3: differs") for line in found), found)

    def test_a_figure_that_changed_is_found(self):
        with PlantedTree(planted()) as root:
            check_performance.check(root, fix=True)
            (root / FILE).write_text(json.dumps({**RESULT, "rows": [["scan", 2.6], ["get", None]]}))
            self.assertEqual(len(check_performance.check(root)), 1)

    def test_wrong_results_are_found(self):
        for changes, expected in (({"rows": [["scan"]]}, "another number of values"),):
            self.assertTrue(any(expected in line for line in messages(check_performance.check, planted(**changes))))
        without = {key: value for key, value in RESULT.items() if key != "command"}
        found = messages(check_performance.check, {FILE: json.dumps(without)})
        self.assertEqual(found, [f"{FILE}:1: lacks command"])
        self.assertIn("no JSON", messages(check_performance.check, {FILE: "{"})[0])

    def test_a_block_without_a_file_is_found(self):
        found = messages(check_performance.check, planted(EMPTY.replace("scan", "gone")))
        self.assertEqual(len(found), 1)
        self.assertIn("gone.json cannot be shown", found[0])


if __name__ == "__main__":
    unittest.main()
