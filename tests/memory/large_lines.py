#!/usr/bin/env python3
"""large_lines.py STELE: measures the peak memory of `stele load`, `stele import` and `stele lint` for
one line of 63 MiB, which is less than the limit of 64 MiB.

Each command runs alone, so its peak is that of the whole process: with the memory budget of the
database, 64 MiB, which a row of 63 MiB exceeds. Without a limit for small values, some of these
lines need 1.5 GB and more.
"""
import os
import sys
import tempfile

MIB = 1 << 20
LINE_BYTES = 63 * MIB
PART = 1 << 16  # what is repeated is written in parts: this process must stay small
# Settings of the C library, such as MALLOC_PERTURB_, change the memory of a process.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith("MALLOC_") and name != "GLIBC_TUNABLES"}

DESIGN = """stele: design/1
inputs: {in: {format: FORMAT}}
tables:
  t:
    families: {c: {}}
    key: "{id}"
    rows: [{input: in, cells: {CELLS}}]
"""
ONE_CELL = '"c:a": "{a}"'
SEVERAL_CELLS = ", ".join(f'"c:{i}": "{{a}}"' for i in range(4))

# The name, the verb, the cells of the design, the line, the exit status, a part of the output, and
# the limit in MiB. A line is its beginning, what is repeated, and its end.
CASES = (
    ("one string", "load", ONE_CELL, ('{"id":"r","a":"', "x", '"}'), 0, "1 rows", 384),
    ("one string with escapes", "load", ONE_CELL, ('{"id":"r","a":"', "\\n", '"}'), 0, "1 rows", 384),
    ("JSON of a string", "load", '"c:a": "{a|json}"', ('{"id":"r","a":"', "x", '"}'), 0, "1 rows",
     448),
    ("numbers", "load", ONE_CELL, ('{"id":"r","a":[', "1,", "1]}"), 1,
     "in:1: more than 1000000 values in one record", 256),
    ("objects", "load", ONE_CELL, ('{"id":"r","a":[', "{},", "{}]}"), 1,
     "in:1: more than 1000000 values in one record", 256),
    ("a template that repeats a field", "load", '"c:a": "{a}{a}{a}{a}{a}"',
     ('{"id":"r","a":"', "x", '"}'), 1, "the text has more than 268435456 bytes", 512),
    ("cells that repeat a field", "load", ", ".join(f'"c:{i}": "{{a}}"' for i in range(9)),
     ('{"id":"r","a":"', "x", '"}'), 1, "the row has more than 268435456 bytes", 512),
    ("rows that repeat a field", "load", SEVERAL_CELLS + "}}, {input: in, cells: {" + SEVERAL_CELLS,
     ('{"id":"r","a":"', "x", '"}'), 1, "the rows of the record have more than 268435456 bytes", 512),
    ("JSON of control characters", "load csv", '"c:a": "{a|json}"', ("id,a\nr,", "\x01", ""), 1,
     "the text has more than 268435456 bytes", 512),
    ("functions that repeat an escape", "load csv", '"c:a": "{a' + 8 * "|escape" + '}"',
     ("id,a\nr,", "#", ""), 1, "the text has more than 268435456 bytes", 512),
    ("a name of many labels", "load csv", '"c:a": "{a|rev_domain}"', ("id,a\nr,", "a.", "a"), 0,
     "1 rows", 448),
    ("commas", "load csv", ONE_CELL, ("id,a\n", ",", ""), 1,
     "in:2: the record has more than 1000000 fields", 256),
    ("a value", "import", None,
     ('{"row":"r","cells":[{"family":"c","qualifier":"q","value":"', "x", '"}]}'), 0, "1 rows", 448),
    ("cells of nothing", "import", None, ('{"row":"r","cells":[', "{},", "{}]}"), 1,
     'in:1: "family" or "family_base64" is required', 256),
    ("ignored numbers", "import", None, ('{"row":"r","a":[', "1,", '1],"cells":[]}'), 0, "0 rows",
     256),
    ("a value", "lint", None,
     ('{"row":"r","cells":[{"family":"c","qualifier":"q","value":"', "x", '"}]}'), 3,
     "SIZE-CELL-REC", 512),
    ("small cells", "lint", None,
     ('{"row":"r","cells":[', '{"family":"c","qualifier":"","value":""},', ']}'), 1,
     "in:1: more than 1000000 cells in one row", 256),
    ("ignored numbers", "lint", None,
     ('{"row":"r","a":[', "1,", '1],"cells":[{"family":"c","qualifier":"q","value":"x"}]}'), 0,
     "0 errors", 256),
)


def write_line(path, begin, repeated, end):
    count = (LINE_BYTES - len(begin) - len(end)) // len(repeated)
    per_part = PART // len(repeated)
    with open(path, "w", encoding="ascii") as out:
        out.write(begin)
        for _ in range(count // per_part):
            out.write(repeated * per_part)
        out.write(repeated * (count % per_part) + end + "\n")


def run(words, output):
    """Returns the exit status and the peak of resident memory in MiB."""
    child = os.fork()
    if child == 0:
        out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execve(words[0], words, ENVIRONMENT)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss // 1024


def check(stele, directory, case):
    name, verb, cells, line, status, text, limit = case
    path = os.path.join(directory, "in")
    write_line(path, *line)
    database = os.path.join(directory, name.replace(" ", "-"))
    output = os.path.join(directory, "output")
    if verb == "import":
        assert run([stele, "--db", database, "createtable", "t", "families=c"], output)[0] == 0
        words = ["--db", database, "import", "t", path, "--format", "jsonl"]
    elif verb == "lint":
        words = ["lint", "--rows", path]
    else:
        design = os.path.join(directory, "design.yaml")
        kind = "csv" if verb.endswith("csv") else "jsonl"
        with open(design, "w", encoding="ascii") as out:
            out.write(DESIGN.replace("FORMAT", kind).replace("CELLS", cells))
        words = ["--db", database, "load", design, "--input", "in=" + path, "--time", "0"]
    exit_status, peak = run([stele] + words, output)
    with open(output, encoding="utf-8", errors="replace") as found:
        printed = found.read()
    print(f"{verb:9} {name:32} {peak:5} MiB, limit {limit}")
    if exit_status == status and text in printed and peak <= limit:
        return True
    print(f"  exit status {exit_status}, expected {status}; expected {text!r} in:\n{printed[:2000]}")
    return False


def main():
    with tempfile.TemporaryDirectory() as directory:
        good = [check(sys.argv[1], directory, case) for case in CASES]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
