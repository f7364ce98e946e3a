#!/usr/bin/env python3
"""run_clang_tidy.py [--all | --since REF] [--build DIR] [--jobs N]: runs clang-tidy with the rules
of .clang-tidy.

Without --all it reads the .cc files under src/ and tools/ that differ from REF (default HEAD~1),
including uncommitted changes. DIR (default build/dev) contains the compile commands, which `cmake
--preset dev` writes. Exit code 0: no finding.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

FOLDERS = ("src", "tools")


def compiled_files(build):
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {pathlib.Path(command["directory"], command["file"]).resolve() for command in commands}


def changed_files(root, reference):
    """Returns the paths below root that differ from `reference`: committed, staged, edited or new."""
    differing = subprocess.run(["git", "diff", "--name-only", "--diff-filter=d", reference], cwd=root, capture_output=True, text=True, check=True)
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    return {(root / name).resolve() for name in (differing.stdout + new.stdout).splitlines()}


def tidy(program, build, path):
    done = subprocess.run([program, "-p", str(build), "--quiet", str(path)], capture_output=True, text=True, check=False)
    return path, done.returncode, done.stdout.strip() or done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every compiled file of src/ and tools/")
    parser.add_argument("--since", default="HEAD~1", metavar="REF", help="compare with this commit (default HEAD~1)")
    parser.add_argument("--build", default="build/dev", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int, metavar="N")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    program = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if program is None:
        sys.exit("clang-tidy is not installed (apt-get install clang-tidy-14)")
    build = options.build if options.build.is_absolute() else root / options.build
    if not (build / "compile_commands.json").exists():
        sys.exit(f"{build} has no compile_commands.json: cmake --preset dev")

    files = {path for path in compiled_files(build) if path.is_relative_to(root) and path.relative_to(root).parts[0] in FOLDERS}
    if not options.all:
        files &= changed_files(root, options.since)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, code, said in pool.map(lambda file: tidy(program, build, file), sorted(files)):
            if code != 0:
                failed += 1
                print(f"== {path.relative_to(root)}\n{said}")
    print(f"clang-tidy: {len(files)} file(s), {failed} with findings")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
