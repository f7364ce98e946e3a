#!/usr/bin/env python3
"""go_test.py STELED FOLDER: the integration tests of Debian's Go client against the built server.

Each test of the suite runs in a process and on a server of its own: a panic ends only that test. The results must be those of
go/expected.txt, also where a test that failed before passes.

Without golang-go and golang-google-cloud-dev nothing is tested: that is said, and the exit code is 77 (skipped).
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from steled_process import Steled

STELED = sys.argv[1] if len(sys.argv) > 1 else ""
FOLDER = sys.argv[2] if len(sys.argv) > 2 else ""
GOPATH = "/usr/share/gocode"
PACKAGE = "cloud.google.com/go/bigtable"
SOURCES = os.path.join(GOPATH, "src", PACKAGE)
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "go", "expected.txt")
SUITE_FLAGS = ["-test.v", "-it.use-prod", "-it.project=p", "-it.instance=i", "-it.cluster=local", "-it.table=t", "-it.instance-to-create=made",
               "-it.admin-endpoint=unused", "-it.data-endpoint=unused"]


def expected_results():
    """{test: (result, reason)}"""
    results = {}
    with open(EXPECTED, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                name, result, *reason = line.split(None, 2)
                results[name] = (result, reason[0].strip() if reason else "")
    return results


def build():
    """The suite's program; Go's cache is kept in FOLDER."""
    os.makedirs(FOLDER, exist_ok=True)
    program = os.path.join(os.path.abspath(FOLDER), "bigtable.test")
    environment = dict(os.environ, GO111MODULE="off", GOPATH=GOPATH, GOCACHE=os.path.join(os.path.abspath(FOLDER), "cache"))
    subprocess.run(["go", "test", "-c", "-o", program, PACKAGE], env=environment, check=True)
    return program


def run_one(program, name):
    """PASS, FAIL, SKIP or CRASH, and what the test printed."""
    with tempfile.TemporaryDirectory(prefix="steled-go-") as folder:
        server = Steled(STELED, os.path.join(folder, "db"), "--durability=process")
        try:
            environment = dict(os.environ, BIGTABLE_EMULATOR_HOST=server.address)
            done = subprocess.run([program, *SUITE_FLAGS, f"-test.run=^{name}$"], cwd=SOURCES, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        finally:
            status = server.end(signal.SIGTERM)
        assert status == 0, f"steled ended with {status} after {name}"
    # A test that panicked has printed FAIL before, where Go's testing package recovered.
    result = re.search(rf"^--- (PASS|FAIL|SKIP): {name} ", done.stdout, re.MULTILINE)
    return (result.group(1) if result else "CRASH"), done.stdout


class GoSuiteTest(unittest.TestCase):
    def test_results_are_the_expected_ones(self):
        program = build()
        listed = subprocess.run([program, "-test.list=^TestIntegration_"], stdout=subprocess.PIPE, text=True, cwd=SOURCES, check=True)
        names = [line for line in listed.stdout.splitlines() if line.startswith("TestIntegration_")]
        expected = expected_results()
        self.assertEqual(sorted(names), sorted(expected), "the suite has other tests than go/expected.txt: is it another version?")
        for name in names:
            with self.subTest(name):
                result, output = run_one(program, name)
                wanted, reason = expected[name]
                self.assertEqual(result, wanted, f"{reason}\n{output}")
                print(f"{name} {result} {reason}".rstrip())


if __name__ == "__main__":
    if shutil.which("go") is None or not os.path.isdir(SOURCES):
        print("skipped: the Go client's tests are not installed (golang-go, golang-google-cloud-dev)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
