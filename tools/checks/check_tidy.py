#!/usr/bin/env python3
"""check_tidy.py [ROOT]: checks the project's rules that a compiler does not check. CONTRIBUTING.md
gives the reasons.

The rules are functions in RULES; each takes a SourceFile and yields (line, text). Rules over the
whole tree come after them.
"""
import dataclasses
import pathlib
import re
import sys

import source_text
from dead_files import dead_files
from doc_paths import misnamed_fields, misplaced_functions, missing_paths, missing_tests, unlisted_locks
from function_lengths import long_functions
from use_labels import wrong_uses

FILE_LINES_MAX = 600
TEST_FILE_LINES_MAX = 900
LINE_CHARACTERS_MAX = 100
TEXT_SUFFIXES = {".cc", ".h", ".py", ".sh", ".cmake", ".md", ".txt", ".json", ".yaml", ".yml", ".in", ".map"}
# Files whose text must not change: license, given contract, recorded data, test conversations,
# output of npm.
VERBATIM = ("LICENSE", "tests/contract/api_contract.cc", "tests/data/", "tests/golden/", "tests/fuzz/corpus/", "data/",
            "tests/steled/clients/node/package-lock.json")
BANNED_WORD = re.compile(r"(?<![\w:])(?:\w*[a-z0-9])?(?:Manager|Helper|Utils?|Handler|Processor|Impl)(?=[A-Z_(<\s;:,{&*)>]|$)\w*")
BANNED_VERB = re.compile(r"(?<![\w:])(?:Do|Maybe)[A-Z][a-z]\w*(?=\s*\()")
BANNED_FILE = re.compile(r"(?:^|_)(?:manager|helpers?|utils?|handler|processor|impl)(?:_|\.)")
UNFINISHED = re.compile(r"\b(?:%s)\b" % "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")))


@dataclasses.dataclass
class SourceFile:
    path: pathlib.Path
    name: str  # relative to the root, with '/'
    text: str
    code: str  # C++ only: text without the contents of comments and strings

    def under(self, *folders):
        return self.name.startswith(tuple(folder + "/" for folder in folders))

    def is_code(self):
        return self.path.suffix in source_text.CODE_SUFFIXES

    def matches(self, pattern):
        for found in re.finditer(pattern, self.code):
            yield source_text.line_of(self.code, found.start()), found.group(0).strip()


def whitespace(file):
    for number, line in enumerate(file.text.split("\n"), 1):
        if line != line.rstrip():
            yield number, "trailing whitespace"
        if "\t" in line:
            yield number, "tab"
    if file.text and not file.text.endswith("\n"):
        yield file.text.count("\n") + 1, "no newline at the end of the file"


def line_lengths(file):
    if file.is_code():
        for number, line in enumerate(file.text.split("\n"), 1):
            if len(line) > LINE_CHARACTERS_MAX:
                yield number, f"{len(line)} characters, at most {LINE_CHARACTERS_MAX}"


def file_length(file):
    lines = file.text.count("\n")
    most = TEST_FILE_LINES_MAX if file.name.startswith("tests/") else FILE_LINES_MAX
    if file.is_code() and lines > most:
        yield lines, f"{lines} lines, at most {most}: split the file"


def function_lengths(file):
    if file.is_code():
        yield from long_functions(file.code)


def header_comment(file):
    if file.path.suffix != ".h":
        return
    first = file.text.split("\n", 1)[0]
    if not first.startswith("// ") or file.path.name not in first:
        yield 1, f"a header must begin with '// {file.path.parent.name}/{file.path.name}: what it is' (CONTRIBUTING.md)"
    if "#pragma once" not in file.text:
        yield 1, "a header must have #pragma once"


LABEL = re.compile(r"// (?:[A-Z]\w*|Used by):(?: |$)")
LABEL_INSIDE = re.compile(r"[\w.;)] +(?:Calls|Contract|Cost|Errors|Format|Memory|Source|Threads|Units|Used by): {2,}")


def labels(file):
    """Checks a header's first comment. A formatter joins a label that is too long with the next
    line, and the label is lost.
    """
    if file.path.suffix != ".h":
        return
    is_in_label = False
    for number, line in enumerate(file.text.split("#pragma once", 1)[0].split("\n"), 1):
        if LABEL_INSIDE.search(line):
            yield number, "a label must be at the start of its line"
        if LABEL.match(line) or not line.startswith("// "):
            is_in_label = line.startswith("// ")
        elif is_in_label and re.match("// [a-z0-9]", line):
            yield number, "the lines after a label must be indented like its text"


def names(file):
    if BANNED_FILE.search(file.path.name):
        yield 1, f"'{file.path.name}' does not describe the file's contents"
    if file.is_code():
        for pattern in (BANNED_WORD, BANNED_VERB):
            for line, word in file.matches(pattern):
                yield line, f"'{word}' is not a good name: name what it is or when it acts"


def unfinished(file):
    if file.path.suffix == ".md":
        return
    for number, line in enumerate(file.text.split("\n"), 1):
        found = UNFINISHED.search(line)
        if found:
            yield number, f"{found.group(0)}: finish it, or record it in docs/"


# (directories, exempt files, pattern, reason)
FORBIDDEN = (
    (("src", "tools"), ("src/base/mutex.h",), r"\bfriend\b(?![^;{]*\boperator\b)", "only an operator may be a friend: give the class a narrower interface"),
    (("include",), (), r"\bfriend\b(?![^;{]*\boperator\b| struct internal::Access;)", "only an operator and internal::Access may be friends of a public class"),
    (("src", "include", "tools"), (), r"\bthrow\b", "do not throw: return an absl::Status"),
    (("src", "include"), (), r"\bcatch\s*\(", "do not catch: nothing throws"),
    (("src", "include"), (), r"\bTEST_\w+", "no function only for tests: test a narrower class or inspect/"),
    (("src", "include", "tests"), (), r"\b(?:sleep_for|sleep_until|SleepFor|usleep|nanosleep)\b", "a sleep is not synchronization"),
    (("src",), ("src/base/invariant.cc",), r"(?<![\w.>])(?:std::|::)?(?:abort|exit|_exit|quick_exit|terminate)\s*\(",
     "the library must not end the process: return an absl::Status, or use STELE_CHECK for a bug"),
    (("src",), (), r"(?<![\w:])assert\s*\(", "use STELE_INVARIANT for the engine's own logic, absl::Status for data"),
    (("src", "include"), (), r"\babsl::(?:Mutex|CondVar|Notification|call_once)\b", "one lock type: base/mutex.h"),
    (("src", "include"), (), r"\bstd::(?:recursive_|shared_|timed_)?mutex\b", "one lock type: base/mutex.h"),
)
MAY_LOCK = ("src/base/mutex.h", "src/base/mutex.cc")


def forbidden(file):
    if not file.is_code():
        return
    for folders, exempt, pattern, reason in FORBIDDEN:
        if file.under(*folders) and file.name not in exempt and not (reason.startswith("one lock type") and file.name in MAY_LOCK):
            for line, word in file.matches(pattern):
                yield line, f"'{word}': {reason}"


def threads(file):
    if file.is_code() and file.under("src", "include") and not file.under("src/jobs"):
        for line, word in file.matches(r"\bstd::(?:thread(?!::id)|jthread|async)\b"):
            yield line, f"'{word}': only src/jobs may create threads"


RULES = (whitespace, line_lengths, file_length, function_lengths, header_comment, labels, names, unfinished, forbidden, threads)


def load(root):
    for path in source_text.project_files(root):
        name = path.relative_to(root).as_posix()
        if name.startswith(VERBATIM) or (path.suffix not in TEXT_SUFFIXES and path.parent != root / "tools"):
            continue
        text = path.read_text(encoding="utf-8")
        yield SourceFile(path, name, text, source_text.code_only(text) if path.suffix in source_text.CODE_SUFFIXES else text)


def check(root):
    root = pathlib.Path(root)
    findings = []
    for file in load(root):
        for rule in RULES:
            findings += [(file.path, line, text) for line, text in rule(file)]
    findings += dead_files(root)
    findings += missing_paths(root)
    findings += missing_tests(root)
    findings += misnamed_fields(root)
    findings += misplaced_functions(root)
    findings += unlisted_locks(root)
    findings += wrong_uses(root)
    return findings


if __name__ == "__main__":
    sys.exit(source_text.finish("tidy", check(sys.argv[1] if len(sys.argv) > 1 else ".")))
