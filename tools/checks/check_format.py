#!/usr/bin/env python3
"""check_format.py [ROOT]: checks that every .cc and .h has the layout of clang-format 14. `--fix`
rewrites the files instead.

Other versions of clang-format produce another layout. Without version 14 the check prints a
message, checks nothing, and exits with 77 (skipped).
"""
import pathlib
import re
import shutil
import subprocess
import sys

import source_text

VERSION = "14"
SKIPPED = 77
FILES_AT_ONCE = 100
VERBATIM = ("tests/contract/api_contract.cc",)


def find_formatter():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        program = shutil.which(name)
        if program:
            said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
            if re.search(rf"version {VERSION}\.", said):
                return program
    return None


def _changes(formatter, path):
    """Version 14 also reports the comment at the end of `namespace a::inline b {`, and does not change it."""
    text = path.read_bytes()
    return subprocess.run([formatter, str(path)], capture_output=True, check=False).stdout != text


def check(root, formatter, fix=False):
    files = [path for path in source_text.code_files(root) if path.relative_to(root).as_posix() not in VERBATIM]
    arguments = ["-i"] if fix else ["--dry-run", "-Werror"]
    findings = {}
    # Starting the program takes longer than formatting most files.
    for first in range(0, len(files), FILES_AT_ONCE):
        some = files[first:first + FILES_AT_ONCE]
        done = subprocess.run([formatter, *arguments, *map(str, some)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            continue
        told = [(path, re.search(rf"^{re.escape(str(path))}:(\d+):", done.stderr, re.MULTILINE)) for path in some]
        findings.update({path: int(line.group(1)) for path, line in told if line and (fix or _changes(formatter, path))})
        if not any(line for _, line in told):
            findings[some[0]] = 1  # the program failed and named no file
    return [(path, line, "not in clang-format's layout: run tools/checks/check_format.py --fix") for path, line in findings.items()]


def main():
    places = [argument for argument in sys.argv[1:] if argument != "--fix"]
    formatter = find_formatter()
    if formatter is None:
        print(f"format: skipped, clang-format {VERSION} is not installed (apt-get install clang-format-{VERSION})")
        return SKIPPED
    return source_text.finish("format", check(pathlib.Path(places[0] if places else "."), formatter, "--fix" in sys.argv))


if __name__ == "__main__":
    sys.exit(main())
