#!/usr/bin/env python3
"""check_decisions.py [ROOT]: checks the form of the records in docs/decisions.

Each record begins with "# NNNN: title", then has "Status:", "Date:" and the sections Context,
Decision, Consequences, and perhaps Alternatives, in this order. Its number is that of its file, no
two records have the same number, and docs/decisions/README.md lists each record with its title.
"""
import pathlib
import re
import sys

import source_text

FOLDER = "docs/decisions"
INDEX = "README.md"
SECTIONS = (["Context", "Decision", "Consequences"], ["Context", "Decision", "Consequences", "Alternatives"])

_FILE = re.compile(r"(\d{4})-[a-z0-9-]+\.md$")
_HEAD = re.compile(r"# (\d{4}): (.+)\n\nStatus: ((?:accepted|replaced by) ?(?:.|\n)*?)\n\nDate: \d{4}-\d\d-\d\d\n\n## ")
_SECTION = re.compile(r"^## (.+)$", re.M)


def _record_findings(path):
    text = path.read_text(encoding="utf-8")
    name = _FILE.match(path.name)
    if name is None:
        yield "the name of a record is NNNN-words.md"
        return
    head = _HEAD.match(text)
    if head is None:
        yield "a record begins with '# NNNN: title', 'Status: accepted' or 'replaced by ..', and 'Date: YYYY-MM-DD'"
    elif head.group(1) != name.group(1):
        yield f"the title has the number {head.group(1)}, the file {name.group(1)}"
    if _SECTION.findall(text) not in SECTIONS:
        yield "the sections of a record are Context, Decision, Consequences, and perhaps Alternatives"


def _index_findings(folder, records):
    index = folder / INDEX
    text = index.read_text(encoding="utf-8") if index.is_file() else ""
    for path in records:
        head = _HEAD.match(path.read_text(encoding="utf-8"))
        if head is not None and f"| [{head.group(1)}]({path.name}) | {head.group(2)} |" not in text:
            yield index, 1, f"the index lacks the line '| [{head.group(1)}]({path.name}) | {head.group(2)} | status |'"


def check(root):
    folder = pathlib.Path(root) / FOLDER
    records = [path for path in sorted(folder.iterdir()) if path.name != INDEX] if folder.is_dir() else []
    findings = [(path, 1, text) for path in records for text in _record_findings(path)]
    numbers = [path.name[:4] for path in records]
    findings += [(path, 1, f"another record has the number {path.name[:4]}")
                 for path in records if numbers.count(path.name[:4]) > 1]
    return findings + list(_index_findings(folder, records))


def main():
    return source_text.finish("decisions", check(sys.argv[1] if len(sys.argv) > 1 else "."))


if __name__ == "__main__":
    sys.exit(main())
