"""Finds paths and tests that a document names and that do not exist."""
import re

import source_text

_PATH = re.compile(r"(?<![\w/.:-])(?:src|tests|tools|docs|include|cmake|bench|data)/[\w./*<>{},-]*[\w/>*}]")
_LINK = re.compile(r"\]\(([^)#\s]+)")
_TEST_NAMED = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")
_TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
_PATTERN = re.compile(r"[*<{]")
_STATS_HEADER = "include/stele/stats.h"
_STATS_PAGE = "docs/reference/statistics.md"
_FIELD = re.compile(r"^ +[\w:]+(?:<.*>)? (\w+) = ", re.M)
_FIELD_ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|", re.M)
_NAMING_FUNCTIONS = "docs/internals"
# "`Name` (`src/file.cc`" or "`Name`, `Name` and `Name` in `src/file.cc`"
_FUNCTIONS_OF = re.compile(r"((?:`[A-Z][\w:]*`(?:,? and\s+|,\s+))*`[A-Z][\w:]*`)\s+(?:\(|in )`(src/[\w/.-]+\.(?:cc|h))`")
_LOCKS_PAGE = "docs/internals/locking.md"
_LOCK = re.compile(r"^\s*(?:mutable )?Mutex (\w+)[;{]", re.M)
_WITHOUT_LOCK_ORDER = ("src/remote/",)  # takes no lock of the engine
_NAMING_TESTS = ("docs/testing.md", "docs/internals/invariants.md")


def _documents(root):
    yield from sorted(root.glob("*.md"))
    yield from (path for path in source_text.project_files(root, ("docs", "bench", "data", "tests", "tools")) if path.suffix == ".md")


def _exists(root, name):
    # In "src/base/mutex.{h,cc}" or "tests/unit/<layer>/", only the part before the pattern can be
    # checked.
    pattern = _PATTERN.search(name)
    if pattern:
        name = name[: pattern.start()].rpartition("/")[0]
    return (root / name).exists()


def missing_paths(root):
    for document in _documents(root):
        in_code = False
        for number, line in enumerate(document.read_text(encoding="utf-8").split("\n"), 1):
            in_code ^= line.startswith("```")
            for name in _PATH.findall(line):
                if not _exists(root, name.rstrip(".")):
                    yield document, number, f"'{name}' does not exist"
            for target in () if in_code else _LINK.findall(line):
                if "://" not in target and not target.startswith("mailto:") and not (document.parent / target).exists():
                    yield document, number, f"the link to '{target}' is broken"


def missing_tests(root):
    """Checks that each `Suite.Name` in the pages of _NAMING_TESTS is the name of a test."""
    documents = [root / name for name in _NAMING_TESTS if (root / name).is_file()]
    if not documents:
        return
    tests = {".".join(found) for path in source_text.project_files(root, ("tests",)) if path.suffix == ".cc"
             for found in _TEST.findall(path.read_text(encoding="utf-8"))}
    for document in documents:
        for number, line in enumerate(document.read_text(encoding="utf-8").split("\n"), 1):
            for name in _TEST_NAMED.findall(line):
                if name not in tests:
                    yield document, number, f"there is no test {name}"


def misnamed_fields(root):
    """Compares the fields of the statistics with the tables of their page that begin with "field"."""
    header, page = root / _STATS_HEADER, root / _STATS_PAGE
    if not header.is_file() or not page.is_file():
        return
    fields = set(_FIELD.findall(header.read_text(encoding="utf-8")))
    text = page.read_text(encoding="utf-8")
    listed = set()
    for table in re.findall(r"^\| field \|.*\n(?:\|.*\n)*", text, re.M):
        for row in _FIELD_ROW.findall(table):
            listed |= set(re.findall(r"\w+", row))
    for name in sorted(fields - listed):
        yield page, 1, f"{_STATS_HEADER} has the field '{name}', and no table of fields lists it"
    for name in sorted(listed - fields):
        yield page, 1, f"{_STATS_HEADER} has no field '{name}'"


def _words_of(path):
    """Returns the words of a source file, and of its header or its other half."""
    words = set()
    for suffix in (".h", ".cc"):
        half = path.with_suffix(suffix)
        if half.is_file():
            words |= set(re.findall(r"\w+", half.read_text(encoding="utf-8")))
    return words


def misplaced_functions(root):
    """Checks that a name in docs/internals that is followed by a file occurs in that file."""
    for document in source_text.project_files(root, (_NAMING_FUNCTIONS,)):
        text = document.read_text(encoding="utf-8")
        for found in _FUNCTIONS_OF.finditer(re.sub(r"\n\s*", lambda end: " " * len(end.group(0)), text)):
            words = _words_of(root / found.group(2))
            for name in re.findall(r"`([\w:]+)`", found.group(1)):
                if name.split("::")[-1] not in words and (root / found.group(2)).is_file():
                    yield document, source_text.line_of(text, found.start()), f"{found.group(2)} has no '{name}'"


def unlisted_locks(root):
    """Checks that the page of the locks names each mutex as `Class::mutex_`, or its file."""
    page = root / _LOCKS_PAGE
    if not page.is_file():
        return
    text = page.read_text(encoding="utf-8")
    for path in source_text.project_files(root, ("src",)):
        name = path.relative_to(root).as_posix()
        if path.suffix not in source_text.CODE_SUFFIXES or name.startswith(_WITHOUT_LOCK_ORDER):
            continue
        class_name = "".join(word.capitalize() for word in path.stem.split("_"))
        code = path.read_text(encoding="utf-8")
        for lock in _LOCK.finditer(code):
            if not any(known in text for known in (f"`{class_name}::{lock.group(1)}`", f"`{class_name}`", f"{name.rsplit('.')[0]}.")):
                yield path, source_text.line_of(code, lock.start(1)), f"{_LOCKS_PAGE} does not list this mutex"
