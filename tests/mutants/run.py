#!/usr/bin/env python3
"""Planted bugs: each mutant of planted.py is built and has to make one of its test programs fail.

  tests/mutants/run.py                  all of them, in a copy of the last commit; about half an hour on two cores
  tests/mutants/run.py merge.1 wal      these mutants, or these rooms' mutants
  tests/mutants/run.py --check [ROOT]   only: does each mutant's old text occur exactly once in its file? (a lint test)

A program that fails without any mutant proves nothing, so each is run once on the clean copy first. Answers 1 when a mutant survives.
"""
import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import planted_filters  # noqa: F401 - adds to MUTANTS
import planted_steled  # noqa: F401 - likewise
from planted import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_SECONDS_MAX = 600


def faults_of(mutants, root):
    """Why mutants do not fit the tree; nothing when all do."""
    faults = []
    names = [mutant.name for mutant in mutants]
    faults += [f"{name}: named twice" for name in sorted(set(names)) if names.count(name) > 1]
    for mutant in mutants:
        path = root / mutant.file
        count = path.read_text(encoding="utf-8").count(mutant.old) if path.is_file() else 0
        if count != 1:
            faults.append(f"{mutant.name}: its old text occurs {count} times in {mutant.file}, not once: {mutant.old!r}")
        if mutant.old == mutant.new:
            faults.append(f"{mutant.name}: changes nothing")
        if not mutant.killers:
            faults.append(f"{mutant.name}: names no test program")
    return faults


class Copy:
    """The last commit in a folder of its own, and what is built from it."""

    def __init__(self, folder, jobs):
        self.tree = folder / "tree"
        self.build = folder / "build"
        self.jobs = jobs
        self.tree.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "-C", str(self.tree)], input=archive, check=True)
        # Unoptimised and without debug information: most of the time goes into building.
        command = ["cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++",
                   "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DSTELE_INVARIANTS=ON",
                   "-DSTELE_BUILD_TOOLS=OFF", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def builds(self, programs):
        command = ["ninja", "-C", str(self.build), f"-j{self.jobs}", *programs]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(done.stdout[-2000:])
        return done.returncode == 0

    def passes(self, killer):
        """True, or what was seen instead: "failed", "crashed", "hung"."""
        program, *arguments = shlex.split(killer)
        try:
            done = subprocess.run([str(self.build / "tests" / program), *arguments], check=False, timeout=TEST_SECONDS_MAX,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "hung"
        if done.returncode == 0:
            return True
        return "failed" if done.returncode > 0 else "crashed"


def programs_of(killers):
    return sorted({shlex.split(killer)[0] for killer in killers})


def judge(copy, mutant):
    """How the mutant ended: killed by what, or not."""
    path = copy.tree / mutant.file
    clean = path.read_text(encoding="utf-8")
    path.write_text(clean.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        if not copy.builds(programs_of(mutant.killers)):
            return False, "DOES NOT BUILD"
        for killer in mutant.killers:
            seen = copy.passes(killer)
            if seen is not True:
                return True, f"{seen}: {killer}"
        return False, "SURVIVED"
    finally:
        path.write_text(clean, encoding="utf-8")


def run(mutants, folder, jobs):
    copy = Copy(folder, jobs)
    faults = faults_of(mutants, copy.tree)
    if faults:
        print("\n".join(faults))
        return 1
    killers = sorted({killer for mutant in mutants for killer in mutant.killers})
    if not copy.builds(programs_of(killers)):
        return 1
    for killer in killers:
        if copy.passes(killer) is not True:
            print(f"{killer} does not pass without any mutant")
            return 1
    survivors = []
    start = time.monotonic()
    for mutant in mutants:
        killed, how = judge(copy, mutant)
        if not killed:
            survivors.append(mutant.name)
        print(f"{mutant.name:16} {how:40} {mutant.what}", flush=True)
    print(f"{len(mutants)} mutants, {len(survivors)} survived {survivors}; {time.monotonic() - start:.0f} s")
    return 1 if survivors else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="mutants or rooms; all when none is named")
    parser.add_argument("--check", nargs="?", const=ROOT, type=pathlib.Path, metavar="ROOT")
    parser.add_argument("--folder", type=pathlib.Path, help="where to copy and build; kept, so that a second run builds little")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.check:
        faults = faults_of(MUTANTS, options.check)
        print("\n".join(faults) or f"{len(MUTANTS)} mutants fit")
        return 1 if faults else 0
    mutants = [mutant for mutant in MUTANTS if not options.names or {mutant.name, mutant.room} & set(options.names)]
    if not mutants:
        print("no such mutant")
        return 1
    if options.folder:
        return run(mutants, options.folder, options.jobs)
    with tempfile.TemporaryDirectory(prefix="stele-mutants-") as folder:
        return run(mutants, pathlib.Path(folder), options.jobs)


if __name__ == "__main__":
    sys.exit(main())
