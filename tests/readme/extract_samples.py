#!/usr/bin/env python3
"""extract_samples.py FOLDER OUT.cc: writes one program with every ```cpp block of a folder's pages, for a test that compiles it.

Each block becomes the body of a function with a database `db` and a table `table`. Its #include lines go to the head of the
program, which runs none of the functions.
"""
import pathlib
import re
import sys

_SAMPLE = re.compile(r"^```cpp\n(.*?)^```\s*$", re.M | re.S)
_INCLUDE = re.compile(r"^#include .*$", re.M)
_HEAD = """#include <stele/stele.h>

#include <iostream>
#include <string>
#include <vector>

"""


def functions(folder):
    """The text of one function for each sample, in the order of the pages, and the #include lines of all samples."""
    found = []
    includes = set()
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for sample in _SAMPLE.finditer(text):
            line = text.count("\n", 0, sample.start()) + 2
            includes.update(_INCLUDE.findall(sample.group(1)))
            # Empty lines in their place keep the numbers of the other lines.
            body = _INCLUDE.sub("", sample.group(1))
            # The inner braces let a sample declare its own `db` or `table`.
            found.append(f"[[maybe_unused]] absl::Status Sample{len(found)}([[maybe_unused]] stele::Database& db,\n"
                         f"                                 [[maybe_unused]] stele::Table& table) {{\n  {{\n"
                         f'#line {line} "{page.name}"\n{body}  }}\n  return absl::OkStatus();\n}}\n')
    return found, sorted(includes)


def main():
    folder, output = map(pathlib.Path, sys.argv[1:3])
    samples, includes = functions(folder)
    if not samples:
        sys.exit(f"{folder}: no page has a ```cpp block")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(line + "\n" for line in includes) + _HEAD + "namespace {\n\n" + "\n".join(samples) + "\n}  // namespace\n\nint main() {}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
