#!/usr/bin/env python3
"""check_performance.py [--fix] [ROOT]: checks that pages show bench/results as it is.

README.md and the pages in docs/ have blocks that begin with "<!-- results: NAME -->" and end with
"<!-- end -->". Between them are the table and the origin of bench/results/NAME.json. --fix writes them. Each result file
states where its figures come from. A file with "rows" has as many values in each row as columns.
"""
import json
import pathlib
import re
import sys
import textwrap

import source_text

RESULTS = "bench/results"
FIELDS = ("title", "date", "commit", "machine", "command", "note", "columns", "rows")

_BLOCK = re.compile(r"<!-- results: ([\w.-]+) -->\n(.*?)<!-- end -->", re.S)


def _cell(value):
    return "" if value is None else str(value)


def _row(values):
    return f"| {' | '.join(values)} |".replace("|  |", "| |")


def render(result):
    """Returns the table and the origin of a result as Markdown."""
    lines = [_row(result["columns"]), "|" + "---|" * len(result["columns"])]
    lines += [_row([_cell(value) for value in row]) for row in result["rows"]]
    origin = f"{result['machine']}; {result['date']}, {result['commit']}. {result['note']}"
    return "\n".join(["", f"    {result['command']}", "", *lines, "", *textwrap.wrap(origin, 100, break_on_hyphens=False), "", ""])


def load(path):
    """Returns (result, text of what is wrong with it or None)."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return None, f"no JSON: {error}"
    missing = [field for field in FIELDS if field not in result]
    if missing:
        return None, f"lacks {', '.join(missing)}"
    if any(len(row) != len(result["columns"]) for row in result["rows"]):
        return None, "a row has another number of values than there are columns"
    return result, None


def pages(root):
    """Returns README.md and the pages in docs/."""
    readme = [root / "README.md"] if (root / "README.md").is_file() else []
    return readme + [path for path in source_text.project_files(root, ("docs",)) if path.suffix == ".md"]


def check_page(page, results, fix):
    """Returns the findings of one page."""
    findings = []
    text = page.read_text(encoding="utf-8")
    fixed = text
    for block in _BLOCK.finditer(text):
        name, line = block.group(1), source_text.line_of(text, block.start())
        if results.get(name) is None:
            findings.append((page, line, f"{RESULTS}/{name}.json cannot be shown"))
            continue
        shown = f"<!-- results: {name} -->\n{render(results[name])}<!-- end -->"
        fixed = fixed.replace(block.group(0), shown)
        if not fix and shown != block.group(0):
            findings.append((page, line, f"differs from {RESULTS}/{name}.json; run check_performance.py --fix"))
    if fix and fixed != text:
        page.write_text(fixed, encoding="utf-8")
    return findings


def check(root, fix=False):
    root = pathlib.Path(root)
    findings, results = [], {}
    for path in source_text.project_files(root, (RESULTS,)):
        if path.suffix == ".json":
            results[path.stem], wrong = load(path)
            findings += [(path, 1, wrong)] if wrong else []
    for page in pages(root):
        findings += check_page(page, results, fix)
    return findings


def main():
    places = [argument for argument in sys.argv[1:] if argument != "--fix"]
    return source_text.finish("performance", check(places[0] if places else ".", "--fix" in sys.argv))


if __name__ == "__main__":
    sys.exit(main())
