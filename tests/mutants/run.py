#!/usr/bin/env python3
"""Planted bugs: builds each mutant of planted.py and checks that one of its test programs fails.

  tests/mutants/run.py                  all mutants, in a copy of the last commit; hours on two cores
  tests/mutants/run.py merge.1 wal      these mutants, and the mutants of these groups, in this order
  tests/mutants/run.py --check [ROOT]   checks only that each mutant's old text occurs exactly once
                                        in its file (a lint test; with --warn it never fails)

A mutant costs a build of its first program and a run up to the first failing test. Other programs
run only if that one passes. A program that fails without a mutant proves nothing, so after its
first failure it also runs on the clean copy. The exit code is 1 if a mutant survives.
"""
import argparse
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import planted_filters  # noqa: F401 - adds to MUTANTS
import planted_steled  # noqa: F401 - likewise
from planted import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_SECONDS_MAX = 600


def places_of(mutant, text):
    """Returns where the mutant's old text occurs, as matches.

    If it does not occur once as it is written, line breaks and indentation do not matter.
    """
    as_written = list(re.finditer(re.escape(mutant.old), text))
    if len(as_written) == 1:
        return as_written
    tokens = re.findall(r"\w+|[^\w\s]", mutant.old)
    pattern = r"\s*".join(re.escape(token) for token in tokens)
    if re.match(r"\w", mutant.old.strip()):
        pattern = r"(?<!\w)" + pattern
    return list(re.finditer(pattern, text))


def planted_in(mutant, text):
    """Returns the text with the mutant's change."""
    place = places_of(mutant, text)[0]
    return text[:place.start()] + mutant.new + text[place.end():]


def faults_of(mutants, root):
    """Returns why mutants do not fit the tree; empty if all do."""
    faults = []
    names = [mutant.name for mutant in mutants]
    faults += [f"{name}: named twice" for name in sorted(set(names)) if names.count(name) > 1]
    for mutant in mutants:
        path = root / mutant.file
        count = len(places_of(mutant, path.read_text(encoding="utf-8"))) if path.is_file() else 0
        if count != 1:
            faults.append(f"{mutant.name}: its old text occurs {count} times in {mutant.file}, not once: {mutant.old!r}")
        if mutant.old == mutant.new:
            faults.append(f"{mutant.name}: changes nothing")
        if not mutant.killers:
            faults.append(f"{mutant.name}: names no test program")
    return faults


def unpack_head(tree):
    """Makes `tree` the last commit. An unchanged file keeps its time, so that it is not built
    again.
    """
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], check=True, stdout=subprocess.PIPE).stdout
    committed = set()
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            if not member.isfile():
                continue
            path = tree / member.name
            committed.add(path)
            content = tar.extractfile(member).read()
            if path.is_file() and path.read_bytes() == content:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(member.mode)
    for path in tree.rglob("*"):
        if path.is_file() and path not in committed and tree / "build" not in path.parents:
            path.unlink()


class Copy:
    """The last commit in a separate directory, and its build."""

    def __init__(self, folder, jobs, optimised):
        self.tree = folder / "tree"
        self.build = self.tree / "build/release" if optimised else folder / "build"
        self.jobs = jobs
        self.proven = set()  # killers that pass without a mutant
        self.tree.mkdir(parents=True, exist_ok=True)
        unpack_head(self.tree)
        command = ["cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja", "-DSTELE_BUILD_TOOLS=OFF"]
        if optimised:
            command.append("-DCMAKE_BUILD_TYPE=Release")
        else:  # without debug information, because building takes most of the time
            command += ["-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
                        "-DSTELE_INVARIANTS=ON"]
        if shutil.which("ccache"):
            command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        if shutil.which("ld.lld"):
            command.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def builds(self, killer):
        command = ["ninja", "-C", str(self.build), f"-j{self.jobs}", shlex.split(killer)[0]]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(done.stdout[-2000:])
        return done.returncode == 0

    def fault_seen_by(self, killer):
        """Returns the killer's failure on the tree as built, or None if it passes."""
        program, *arguments = shlex.split(killer)
        command = [str(self.build / "tests" / program), "--gtest_fail_fast", "--gtest_brief=0", *arguments]
        environment = {**os.environ, "STELE_MODEL_SHRINK": "0"}
        try:
            done = subprocess.run(command, check=False, timeout=TEST_SECONDS_MAX, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, errors="replace")
        except subprocess.TimeoutExpired:
            return "hung"
        if done.returncode == 0:
            return None
        failed = re.findall(r"^\[  FAILED  \] (\S+) \(", done.stdout, re.MULTILINE)
        begun = re.findall(r"^\[ RUN      \] (\S+)", done.stdout, re.MULTILINE)
        return f"failed: {failed[0]}" if failed else f"crashed: {begun[-1] if begun else 'before any test'}"

    def passes_unharmed(self, killer):
        if killer not in self.proven and self.builds(killer) and self.fault_seen_by(killer) is None:
            self.proven.add(killer)
        return killer in self.proven


def judge(copy, mutant):
    """Returns (killed, how) for a mutant."""
    path = copy.tree / mutant.file
    clean = path.read_text(encoding="utf-8")
    path.write_text(planted_in(mutant, clean), encoding="utf-8")
    killer = seen = None
    try:
        for killer in mutant.killers:
            if not copy.builds(killer):
                return False, "DOES NOT BUILD"
            seen = copy.fault_seen_by(killer)
            if seen is not None:
                break
    finally:
        path.write_text(clean, encoding="utf-8")
    if seen is None:
        return False, "SURVIVED"
    if not copy.passes_unharmed(killer):
        return False, f"NOT JUDGED: {killer} does not pass without any mutant"
    return True, f"{shlex.split(killer)[0]} {seen}"


def run(mutants, folder, options):
    copy = Copy(folder, options.jobs, options.release)
    faults = faults_of(mutants, copy.tree)
    if faults:
        print("\n".join(faults))
        return 1
    survivors = []
    start = time.monotonic()
    for mutant in mutants:
        begin = time.monotonic()
        killed, how = judge(copy, mutant)
        if not killed:
            survivors.append(mutant.name)
        print(f"{mutant.name:16} {time.monotonic() - begin:5.0f} s  {how:60} {mutant.what}", flush=True)
    print(f"{len(mutants)} mutants, {len(survivors)} survived {survivors}; {time.monotonic() - start:.0f} s")
    return 1 if survivors else 0


def chosen(names):
    """Returns the named mutants in this order, each once; all if there are no names."""
    if not names:
        return MUTANTS
    return list(dict.fromkeys(mutant for name in names for mutant in MUTANTS if name in (mutant.name, mutant.group)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="mutants or groups; default: all")
    parser.add_argument("--check", nargs="?", const=ROOT, type=pathlib.Path, metavar="ROOT")
    parser.add_argument("--warn", action="store_true", help="--check prints warnings and succeeds")
    parser.add_argument("--folder", type=pathlib.Path, help="directory for the copy and the build; kept, so that a second run builds little")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--release", action="store_true", help="optimized build: faster if the tests take longer than the "
                        "build, or if the compiler cache has a release build")
    options = parser.parse_args()
    if options.check:
        faults = faults_of(MUTANTS, options.check)
        print("\n".join(faults) or f"{len(MUTANTS)} mutants fit")
        if faults and options.warn:
            print(f"warning: {len(faults)} mutants do not fit the sources: update or delete them")
            return 0
        return 1 if faults else 0
    mutants = chosen(options.names)
    if not mutants:
        print("no such mutant")
        return 1
    if options.folder:
        return run(mutants, options.folder, options)
    with tempfile.TemporaryDirectory(prefix="stele-mutants-") as folder:
        return run(mutants, pathlib.Path(folder), options)


if __name__ == "__main__":
    sys.exit(main())
