#!/usr/bin/env python3
"""plot_growth makes a picture and a table of the lines of stele_growth."""
import json
import pathlib
import sys
import unittest
import xml.etree.ElementTree

from planted_tree import ROOT

sys.path.insert(0, str(pathlib.Path(ROOT) / "bench"))

import check_performance
import plot_growth
import summarize_results

SVG = "{http://www.w3.org/2000/svg}"
RUN = json.dumps({"run": "stele_growth", "machine": "two cores"})


def figure(value, operation, cpu_us, curve="rows", varies="rows of the table"):
    return json.dumps({"curve": curve, "varies": varies, "value": value, "operation": operation, "cpu_us": cpu_us})


LINES = [RUN, figure(10, "cell", 1.234), figure(10, "scan", 45.678), figure(1000, "cell", 12345.6),
         figure(1, "write", 0.5, "files", "files <&> of a tablet"), figure(2, "write", 0.5, "files", "files")]


class PlotGrowth(unittest.TestCase):
    def setUp(self):
        self.run, self.curves = plot_growth.read_lines(LINES)

    def test_the_table_has_a_row_per_point_with_three_digits(self):
        self.assertEqual(plot_growth.rows_of(self.curves), [
            ["rows of the table", "10", "1.23", None, "45.7", None, None],
            ["rows of the table", "1,000", "12,346", None, None, None, None],
            ["files <&> of a tablet", "1", None, None, None, None, "0.500"],
            ["files <&> of a tablet", "2", None, None, None, None, "0.500"]])

    def test_the_result_can_be_shown(self):
        result = plot_growth.result_of(self.run, self.curves, "Growth", "abc", "stele_growth")
        self.assertEqual(json.loads(summarize_results.to_text(result)), result)
        self.assertEqual(sorted(result), sorted(check_performance.FIELDS))
        self.assertIn("| rows of the table | 10 | 1.23 | | 45.7 |", check_performance.render(result))

    def test_the_picture_has_a_line_per_operation_that_rises_with_the_cost(self):
        svg = xml.etree.ElementTree.fromstring(plot_growth.picture_of(self.curves))
        lines = [[tuple(map(float, point.split(","))) for point in shape.get("points").split()]
                 for shape in svg.findall(SVG + "polyline")]
        self.assertEqual([len(points) for points in lines], [2, 1, 2])
        (x1, y1), (x2, y2) = lines[0]
        self.assertLess(x1, x2)
        self.assertGreater(y1, y2, "SVG's y axis points downwards")
        self.assertEqual(lines[2][0][1], lines[2][1][1], "the same cost is at the same height")

    def test_text_is_escaped(self):
        self.assertIn("files &lt;&amp;&gt; of a tablet", plot_growth.picture_of(self.curves))

    def test_other_lines_are_refused(self):
        for lines, expected in (([RUN], "at least one figure"), (LINES[1:], "one line about the run"),
                                ([RUN, figure(1, "fly", 1)], "unknown operation fly")):
            with self.assertRaisesRegex(ValueError, expected):
                plot_growth.read_lines(lines)


if __name__ == "__main__":
    unittest.main()
