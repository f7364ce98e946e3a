#!/usr/bin/env python3
"""summarize_results turns the lines that the comparisons print into a result for the documents."""
import json
import pathlib
import sys
import unittest

from planted_tree import ROOT

sys.path.insert(0, str(pathlib.Path(ROOT) / "bench"))

import check_performance
import summarize_results


def figure(workload, value, cpu_seconds, number, **names):
    return json.dumps({"workload": workload, "unit": "rows/s", "value": value, "cpu_seconds": cpu_seconds,
                       "operations": 100, "round": number, "error": "", **names})


RUN = json.dumps({"run": "stele_compare", "names": "bench", "machine": "two cores"})
OLD_RUN = json.dumps({"run": "stele_compare", "machine": "two cores"})
SERVER_RUN = json.dumps({"run": "stele_server_load", "machine": "two cores"})
DISK = {"stele": 60 << 20, "rocksdb": 70 << 20}
COMPARED = [RUN, *(figure("scan", value, cpu_seconds, number, engine=engine, disk_bytes=DISK[engine])
                   for value, cpu_seconds, number, engine in ((3e6, 1, 0, "stele"), (1e6, 4, 0, "rocksdb"),
                                                              (5e6, 3, 1, "stele"), (2e6, 4, 1, "rocksdb"))),
            figure("get", 4e3, 2, 0, engine="stele")]
SERVED = [SERVER_RUN, figure("scan", 2e3, 1, 0, server="steled-disk", connections=16),
          figure("scan", 1e3, 1, 0, server="emulator", connections=16)]


class SummarizeResults(unittest.TestCase):
    def test_medians_and_ratios_of_engines(self):
        result = summarize_results.summarize(COMPARED, "rocksdb", "Scans", "abc", "stele_compare")
        self.assertEqual(result["rows"], [["scan", "stele", "4.00M rows/s", "1.50M rows/s", 2.67, 2.0, "60 / 70", None]])
        self.assertEqual((result["machine"], result["note"]), ("two cores", "Medians of 2 round(s)."))

    def test_old_names_of_workloads_become_the_present_ones(self):
        for run, workload in ((RUN, "scan"), (OLD_RUN, "scan_all")):
            result = summarize_results.summarize([run, *COMPARED[1:]], "rocksdb", "Scans", "abc", "stele_compare")
            self.assertEqual([row[0] for row in result["rows"]], [workload])

    def test_connections_are_part_of_the_workload(self):
        result = summarize_results.summarize(SERVED, "emulator", "Server", "abc", "stele_server_load")
        self.assertEqual(result["rows"][0][:5], ["scan, 16 connections", "steled-disk", "2.0k rows/s", "1.0k rows/s", 2.0])

    def test_the_result_can_be_shown(self):
        result = summarize_results.summarize(COMPARED, "rocksdb", "Scans", "abc", "stele_compare")
        read = json.loads(summarize_results.to_text(result))
        self.assertEqual(read, result)
        self.assertEqual(sorted(read), sorted(check_performance.FIELDS))
        self.assertIn("| scan | stele | 4.00M rows/s |", check_performance.render(read))

    def test_errors_and_other_lines_are_refused(self):
        failed = [RUN, figure("scan", 1, 1, 0, engine="stele").replace('"error": ""', '"error": "no space"')]
        for lines, expected in ((failed, "no space"), ([RUN], "at least one figure"), (COMPARED[1:], "one line about")):
            with self.assertRaisesRegex(ValueError, expected):
                summarize_results.summarize(lines, "rocksdb", "Scans", "abc", "stele_compare")


if __name__ == "__main__":
    unittest.main()
