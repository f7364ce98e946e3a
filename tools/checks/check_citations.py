#!/usr/bin/env python3
"""check_citations.py [ROOT]: finds cited numbers that no page explains.

- "engine rule N", and a test named "RuleN...": docs/internals/invariants.md has a section "Rule N".
  "Invariant N" is not used, so that a search for the rule finds everything.
- "semantics row N", and a case "row N:": docs/reference/semantics.md has a table row N.
- The rules are numbered from 1 without a gap.
"""
import pathlib
import re
import sys

import source_text

RULES_PAGE = "docs/internals/invariants.md"
SEMANTICS_PAGE = "docs/reference/semantics.md"
SUFFIXES = {".h", ".cc", ".md", ".txt", ".py"}
SKIPPED = ("tools/checks/", "tests/checks/", "tests/steled/clients/node/")

_RULE_SECTION = re.compile(r"^## Rule (\d+):", re.M)
_SEMANTICS_ROW = re.compile(r"^\| (\d+) \|", re.M)
_NUMBERS = r"(\d+(?:(?:, | and | to |, and )\d+)*)"
# A citation may be broken over two lines of a comment.
_BREAK = r"(?:[ ]|\s*\n\s*(?://|#|\*)?\s*)"
_RULE_CITED = re.compile(rf"\b[Ee]ngine{_BREAK}rules?{_BREAK}{_NUMBERS}")
_RULE_MISCALLED = re.compile(rf"\b[Ii]nvariants?{_BREAK}{_NUMBERS}")
_RULE_TEST = re.compile(r"^TEST(?:_F|_P)?\(\w+,\s*Rule(\d+)", re.M)
_SEMANTICS_CITED = re.compile(rf"\b[Ss]emantics{_BREAK}rows?{_BREAK}{_NUMBERS}")
_SEMANTICS_CASE = re.compile(r"^row (\d+):", re.M)


def _sections(root, page, pattern):
    path = root / page
    return [int(number) for number in pattern.findall(path.read_text(encoding="utf-8"))] if path.is_file() else []


def _misnumbered(root, rules):
    if rules != list(range(1, len(rules) + 1)):
        yield root / RULES_PAGE, 1, f"the rules are not numbered from 1 in steps of 1: {rules}"


def _cited(text, patterns):
    """(line, number) of each number that one of the patterns finds."""
    for pattern in patterns:
        for found in pattern.finditer(text):
            for number in re.findall(r"\d+", found.group(1)):
                yield source_text.line_of(text, found.start()), int(number)


def check(root):
    root = pathlib.Path(root)
    rules = _sections(root, RULES_PAGE, _RULE_SECTION)
    rows = set(_sections(root, SEMANTICS_PAGE, _SEMANTICS_ROW))
    findings = list(_misnumbered(root, rules))
    for path in source_text.project_files(root):
        name = path.relative_to(root).as_posix()
        if path.suffix not in SUFFIXES or name.startswith(SKIPPED):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        findings += [(path, line, f"{RULES_PAGE} has no rule {number}")
                     for line, number in _cited(text, (_RULE_CITED, _RULE_TEST)) if number not in rules]
        findings += [(path, line, f"cite it as 'engine rule {number}'") for line, number in _cited(text, (_RULE_MISCALLED,))]
        cases = (_SEMANTICS_CITED, _SEMANTICS_CASE) if name.startswith("tests/data/") else (_SEMANTICS_CITED,)
        findings += [(path, line, f"{SEMANTICS_PAGE} has no row {number}")
                     for line, number in _cited(text, cases) if number not in rows]
    return findings


def main():
    return source_text.finish("citations", check(sys.argv[1] if len(sys.argv) > 1 else "."))


if __name__ == "__main__":
    sys.exit(main())
