#!/usr/bin/env python3
"""extract_program.py README.md OUT.cc: writes the first ```cpp block of a page to a file. A test
compiles and runs it.
"""
import pathlib
import re
import sys


def first_program(text):
    """Returns the text of the first ```cpp block, or None."""
    found = re.search(r"^```cpp\n(.*?)^```\s*$", text, re.M | re.S)
    return found.group(1) if found else None


def main():
    page, output = map(pathlib.Path, sys.argv[1:3])
    program = first_program(page.read_text(encoding="utf-8"))
    if program is None or "main(" not in program:
        sys.exit(f"{page}: the first ```cpp block has to be a whole program with main()")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(program, encoding="utf-8")


if __name__ == "__main__":
    main()
