#!/usr/bin/env python3
"""compare_workloads_test.py PROGRAM SOURCE: stele_compare runs each workload of stele bench on each
engine. PROGRAM is stele_compare. SOURCE is tools/stele/bench/workload.cc, which lists the workloads.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1:3]
ROWS = 300
CELLS_OF_ROW = 5
NAMES = re.findall(r'\{\.name = "([^"]+)"', pathlib.Path(SOURCE).read_text(encoding="utf-8"))
# The cells that an operation reads, where each one reads as many. Others read less at the ends of
# the table.
CELLS_READ = {"get": CELLS_OF_ROW, "get-missing": 0, "mget": 10 * CELLS_OF_ROW}
PREFIX_CELLS = 100 * CELLS_OF_ROW
# The cells of the table after a workload that runs alone, with its number of operations.
CELLS_LEFT = {
    "update": lambda operations: ROWS * CELLS_OF_ROW,
    "check-and-mutate": lambda operations: ROWS * CELLS_OF_ROW,
    "put": lambda operations: (ROWS + operations) * CELLS_OF_ROW,
    "bulk": lambda operations: (ROWS + 100 * operations) * CELLS_OF_ROW,
}


def run(*names):
    """Returns the figures of the workloads: {name: [a figure of each engine]}."""
    with tempfile.TemporaryDirectory() as directory:
        command = [PROGRAM, "--rows", str(ROWS), "--rounds", "1", "--json", "--only", ",".join(names),
                   "--dir", directory]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    figures = {}
    for line in map(json.loads, done.stdout.splitlines()):
        if "workload" in line:
            figures.setdefault(line["workload"], []).append(line)
    return figures


class CompareWorkloads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.figures = run(*NAMES)

    def test_each_workload_of_stele_bench_runs(self):
        self.assertGreater(len(NAMES), 20)
        self.assertEqual(sorted(self.figures), sorted(NAMES))

    def test_engines_read_the_same_data(self):
        for name, figures in self.figures.items():
            self.assertEqual(len({(figure["cells"], figure["hash"], figure["operations"]) for figure in figures}), 1, name)
            self.assertEqual(len({figure["engine"] for figure in figures}), len(figures), name)

    def test_reads_return_the_expected_cells(self):
        for name, cells in CELLS_READ.items():
            for figure in self.figures[name]:
                self.assertEqual(figure["cells"], cells * figure["operations"], name)
        for figure in self.figures["prefix"]:
            self.assertEqual(figure["cells"] % PREFIX_CELLS, 0)
        for name in ("scan", "reverse", "prefix", "range", "project", "latest", "filter"):
            for figure in self.figures[name]:
                self.assertGreater(figure["cells"], 0, name)
                self.assertEqual(figure["operations"], figure["cells"], name)

    def test_scans_of_the_same_rows_agree(self):
        cells = {name: figures[0]["cells"] for name, figures in self.figures.items()}
        self.assertEqual(cells["scan"], CELLS_OF_ROW * cells["project"])
        hashes = {name: figures[0]["hash"] for name, figures in self.figures.items()}
        # With so few rows, each range is one row. All three choose the same rows in the same order.
        self.assertEqual(hashes["get"], hashes["mget"])
        self.assertEqual(hashes["get"], hashes["range"])
        self.assertEqual(len({hashes[name] for name in ("get", "scan", "reverse", "prefix", "project", "filter")}), 6)

    def test_writes_leave_the_expected_cells(self):
        for name, cells_left in CELLS_LEFT.items():
            for figure in run(name)[name]:
                self.assertEqual(figure["cells"], cells_left(figure["operations"]), name)

    def test_deletes_and_counters_change_the_table(self):
        deleted = run("delete")["delete"]
        self.assertTrue(all(0 <= figure["cells"] < ROWS * CELLS_OF_ROW for figure in deleted))
        incremented = run("increment")["increment"]
        self.assertTrue(all(ROWS * CELLS_OF_ROW < figure["cells"] <= ROWS * (CELLS_OF_ROW + 1) for figure in incremented))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
