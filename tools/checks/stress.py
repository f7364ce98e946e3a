#!/usr/bin/env python3
"""Runs every test that uses threads many times while all cores are busy, and counts its failures.

  tools/checks/stress.py [NAME] [--times N] [--seed S] [--builds release,asan,tsan] [--seconds T]

`tools/test --stress` builds the programs first. The tests are those of the tsan build's programs with
the label tsan; the other builds run the same ones. The release and asan builds also run all tests of
the programs with the label server. Each run of a program is a process of its own
with shuffled tests. NAME selects tests whose name "Suite.Test" contains it, or all of a program. With
--seconds no new round begins after that time. A run that ends without a result (a crash, a report of
a sanitizer, a hang of --hang seconds) counts as a failure of the test that was running.

The exit code is 1 if a test failed. The table lists failures out of runs; every other test had none.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUSY = "while True: pass"
# clang 14's sanitizers need the usual layout of memory, which newer kernels randomize too much.
LAUNCHER = ["setarch", "-R"] if subprocess.run(["setarch", "-R", "true"], check=False).returncode == 0 else []


class Program:
    """A test program, and its tests."""

    def __init__(self, name, path, environment, tests):
        self.name, self.path, self.environment, self.tests = name, path, environment, tests

    def is_in(self, build):
        return (build / self.path).exists()


def tests_in(program):
    """Returns the names of all tests of a GoogleTest program."""
    text = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    tests, suite = [], ""
    for line in text.splitlines():
        word = line.split("#")[0].rstrip()
        if word.endswith(".") and not word.startswith(" "):
            suite = word
        elif word.startswith("  "):
            tests.append(suite + word.strip())
    return [test for test in tests if "DISABLED_" not in test]


def programs_of(build, label, name):
    """Returns the GoogleTest programs of a build that have the label, with their tests that match `name`."""
    listed = subprocess.run(["ctest", "--test-dir", build, "-L", f"^{label}$", "--show-only=json-v1"], capture_output=True, text=True, check=True)
    programs = []
    for test in json.loads(listed.stdout)["tests"]:
        path = pathlib.Path(test.get("command", ["not built"])[0])
        if not path.is_relative_to(build / "tests"):
            continue
        environment = {}
        for entry in test.get("properties", []):
            if entry["name"] == "ENVIRONMENT":
                environment = dict(variable.split("=", 1) for variable in entry["value"])
        tests = [one for one in tests_in(path) if name in one or name == test["name"]]
        if tests:
            programs.append(Program(test["name"], path.relative_to(build), environment, tests))
    return programs


def failures_of(text, has_failed):
    """Returns the tests that failed in the output of a run, and those that ended."""
    failed = set(re.findall(r"^\[  FAILED  \] (\S+)[^\n]* \(\d+ ms\)$", text, re.M))
    failed = {test.rstrip(",") for test in failed}
    ended = set(re.findall(r"^\[ +(?:OK|SKIPPED) +\] (\S+) \(\d+ ms\)$", text, re.M)) | failed
    begun = re.findall(r"^\[ RUN +\] (\S+)$", text, re.M)
    running = [test for test in begun if test not in ended]
    failed.update(running)
    if has_failed and not failed:
        failed.add("(after the last test)")
    return failed, ended


def run_once(program, build, seed, hang_seconds, logs):
    """Runs the tests of a program once. Returns the tests that failed, and those that ended."""
    environment = {**os.environ, **program.environment, "TSAN_OPTIONS": "halt_on_error=1"}
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write("--gtest_filter=" + ":".join(program.tests) + "\n")
        flags.flush()
        command = [*LAUNCHER, build / program.path, f"--gtest_flagfile={flags.name}", "--gtest_shuffle", f"--gtest_random_seed={seed % 99999 + 1}"]
        try:
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=hang_seconds, check=False)
            output, has_failed = done.stdout, done.returncode != 0
        except subprocess.TimeoutExpired as hung:
            output, has_failed = hung.stdout or b"", True
    text = output.decode(errors="replace")
    failed, ended = failures_of(text, has_failed)
    if failed:
        log = logs / f"{build.name}-{program.name}-{seed}.log"
        log.write_text(text, encoding="utf-8")
        print(f"{build.name} {program.name}, seed {seed}: {' '.join(sorted(failed))}; see {log}", flush=True)
    return failed, ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--hang", type=float, default=1800)
    parser.add_argument("--builds", default="release,asan,tsan")
    arguments = parser.parse_args()

    builds = [ROOT / "build" / name for name in arguments.builds.split(",")]
    programs = programs_of(ROOT / "build/tsan", "tsan", arguments.name)
    of_tsan = {program.name for program in programs}
    programs += [one for one in programs_of(ROOT / "build/release", "server", arguments.name) if one.name not in of_tsan]
    if not programs:
        sys.exit(f"no test that uses threads has '{arguments.name}' in its name")
    logs = ROOT / "build/stress"
    logs.mkdir(parents=True, exist_ok=True)
    runs, failures = collections.Counter(), collections.Counter()
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() or 1)]
    began, rounds = time.monotonic(), 0
    try:
        while rounds < arguments.times and time.monotonic() - began < arguments.seconds:
            for build in builds:
                for program in programs:
                    if not program.is_in(build):
                        continue
                    failed, ended = run_once(program, build, arguments.seed + rounds, arguments.hang, logs)
                    runs.update((build.name, test) for test in failed | ended)
                    failures.update((build.name, test) for test in failed)
            rounds += 1
            print(f"round {rounds} of {arguments.times}: {sum(failures.values())} failures so far", flush=True)
    finally:
        for process in busy:
            process.kill()
    for (build, test), count in sorted(failures.items()):
        print(f"{build:8} {test}: {count} of {runs[build, test]}")
    tests = {test for _, test in runs}
    print(f"{len(tests)} tests in {len(builds)} builds, {rounds} times each, seeds {arguments.seed} to {arguments.seed + rounds - 1}, "
          f"{os.cpu_count()} busy loops: {sum(runs.values())} runs, {sum(failures.values())} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
