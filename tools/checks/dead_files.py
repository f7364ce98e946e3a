"""Finds files nobody builds: a header that nothing includes, a .cc that no CMake file or script names."""
import re

import source_text

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
# The folders that the project's own CMake functions glob, by the call that names them.
_CALLS = (
    (re.compile(r"\bstele_room\((\w+)"), "src/{}"),
    (re.compile(r"\bstele_unit_test\((\w+)"), "tests/unit/{}"),
    (re.compile(r"\bstele_test_folder\(\w+\s+(\w+)"), "tests/{}"),
)
_ALWAYS_BUILT = ("tests/support", "tests/fuzz")
_NAMED = re.compile(r'[\w./*${}-]+\.cc\b')


def _build_files(root):
    for path in source_text.project_files(root):
        if path.suffix in {".cmake", ".sh"} or path.name == "CMakeLists.txt":
            yield path, path.read_text(encoding="utf-8")


def _built(root):
    """(folders all of whose .cc are built, patterns of single paths)"""
    folders, patterns = set(_ALWAYS_BUILT), []
    for path, text in _build_files(root):
        for call, folder in _CALLS:
            folders |= {folder.format(name) for name in call.findall(text)}
        here = path.parent.relative_to(root).as_posix()
        for token in _NAMED.findall(text):
            token = re.sub(r"^\$\{(?:PROJECT_SOURCE_DIR|CMAKE_SOURCE_DIR)\}/|^\$\w+/", "", token)
            if not token.startswith("${"):
                patterns.append(token)
            token = re.sub(r"^\$\{CMAKE_CURRENT_SOURCE_DIR\}/", "", token)
            if "${" not in token:
                patterns.append(f"{here}/{token}" if here != "." else token)
    return folders, [re.compile(re.escape(_tidy_path(pattern)).replace(r"\*", "[^/]*") + "$") for pattern in patterns]


def _tidy_path(path):
    """a/b/../c -> a/c"""
    parts = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def dead_files(root):
    files = source_text.code_files(root)
    included = set()
    for path in files:
        included |= set(_INCLUDED.findall(path.read_text(encoding="utf-8")))
    folders, patterns = _built(root)
    for path in files:
        name = path.relative_to(root).as_posix()
        if path.suffix == ".h":
            parts = path.relative_to(root).parts
            is_included = any("/".join(parts[first:]) in included for first in range(len(parts)))
            if not is_included and parts[:2] != ("include", "stele"):
                yield path, 1, "no file includes this header"
        elif path.parent.relative_to(root).as_posix() not in folders and not any(pattern.match(name) for pattern in patterns):
            yield path, 1, "no CMake file builds this file"
