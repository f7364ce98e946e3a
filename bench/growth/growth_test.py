#!/usr/bin/env python3
"""growth_test.py PROGRAM: runs every curve of stele_growth on little data, and draws the result.

Checks which figures there are, never how large they are.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = sys.argv[1]
PLOT = pathlib.Path(__file__).resolve().parent.parent / "plot_growth.py"
CURVES = {
    "rows": ("cell", "row", "scan", "write"),
    "columns": ("cell", "row", "write"),
    "versions_in_file": ("cell", "row", "write"),
    "versions_in_memtable": ("cell", "row", "write"),
    "families": ("cell", "row", "family_scan", "write"),
    "files": ("cell", "row", "scan"),
    "tablets": ("cell", "row", "scan", "write"),
    "threads": ("cell", "row", "scan", "write"),
    "budget": ("cell", "row", "scan", "write"),
}
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=280)


class Growth(unittest.TestCase):
    def test_every_curve_has_all_figures_and_is_drawn(self):
        with tempfile.TemporaryDirectory() as place:
            done = run("--small", "--dir", place)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(list(pathlib.Path(place).iterdir()), [], "the databases are removed")
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            found = [(line["curve"], line["operation"]) for line in lines[1:]]
            self.assertEqual(found, [(curve, operation) for curve, operations in CURVES.items()
                                     for _ in range(2) for operation in operations])
            self.assertGreaterEqual(min(line["operations"] for line in lines[1:]), 20)
            self.check_picture(done.stdout, pathlib.Path(place) / "growth.svg")

    def check_picture(self, lines, picture):
        drawn = subprocess.run([sys.executable, PLOT, "Growth", "abc", "stele_growth --small", picture],
                               input=lines, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        self.assertEqual(len(json.loads(drawn.stdout)["rows"]), 2 * len(CURVES))
        svg = xml.etree.ElementTree.parse(picture).getroot()
        self.assertEqual(len(svg.findall(SVG + "polyline")), sum(map(len, CURVES.values())))

    def test_only_chooses_curves(self):
        done = run("--small", "--only", "files")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual({json.loads(line)["curve"] for line in done.stdout.splitlines()[1:]}, {"files"})

    def test_a_wrong_argument_is_one_line(self):
        for arguments in (("--only", "unknown"), ("--only", "files,"), ("--only",), ("--dir", ""), ("x",)):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertTrue(done.stderr.endswith("; see --help\n") and done.stderr.count("\n") == 1, done.stderr)

    def test_a_directory_that_is_missing_is_an_error(self):
        done = run("--dir", "/no/such/directory")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/no/such/directory", done.stderr)

    def test_help_lists_the_curves(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for curve in CURVES:
            self.assertIn(f"\n  {curve} ", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
