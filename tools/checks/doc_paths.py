"""Finds paths and tests that the documents name and that are not there: a document that points nowhere has rotted."""
import re

import source_text

_PATH = re.compile(r"(?<![\w/.:-])(?:src|tests|tools|docs|include|cmake|bench|data)/[\w./*<>{},-]*[\w/>*}]")
_LINK = re.compile(r"\]\(([^)#\s]+)")
_TEST_NAMED = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")
_TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
_PATTERN = re.compile(r"[*<{]")


def _documents(root):
    yield from sorted(root.glob("*.md"))
    yield from (path for path in source_text.project_files(root, ("docs", "bench", "data", "tests", "tools")) if path.suffix == ".md")


def _exists(root, name):
    # "src/base/mutex.{h,cc}", "tests/unit/<room>/": only the part before the pattern can be looked up.
    pattern = _PATTERN.search(name)
    if pattern:
        name = name[: pattern.start()].rpartition("/")[0]
    return (root / name).exists()


def missing_paths(root):
    for document in _documents(root):
        for number, line in enumerate(document.read_text(encoding="utf-8").split("\n"), 1):
            for name in _PATH.findall(line):
                if not _exists(root, name.rstrip(".")):
                    yield document, number, f"'{name}' does not exist"
            for target in _LINK.findall(line):
                if "://" not in target and not target.startswith("mailto:") and not (document.parent / target).exists():
                    yield document, number, f"the link to '{target}' leads nowhere"


def missing_tests(root):
    """In docs/testing.md: `Suite.Name` that no test is called."""
    document = root / "docs/testing.md"
    if not document.is_file():
        return
    tests = {".".join(found) for path in source_text.project_files(root, ("tests",)) if path.suffix == ".cc"
             for found in _TEST.findall(path.read_text(encoding="utf-8"))}
    for number, line in enumerate(document.read_text(encoding="utf-8").split("\n"), 1):
        for name in _TEST_NAMED.findall(line):
            if name not in tests:
                yield document, number, f"no test is called {name}"
