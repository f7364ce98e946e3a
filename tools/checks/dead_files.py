"""Finds files that no build uses: a header without an include, a .cc that no CMake file or script
names.
"""
import re

import source_text

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
# The directories that the project's own CMake functions glob: those of docs/layers.txt with their
# tests, and these, by function call.
_LAYER = re.compile(r"^([\w/]+):", re.M)
_CALLS = (
    (re.compile(r"\bstele_unit_test\((\w+)"), "tests/unit/{}"),
    (re.compile(r"\bstele_test_folder\(\w+\s+(\w+)"), "tests/{}"),
)
_ALWAYS_BUILT = ("tests/support", "tests/support/crash_fs", "tests/fuzz")
_NAMED = re.compile(r'[\w./*${}-]+\.cc\b')


def _build_files(root):
    for path in source_text.project_files(root):
        if path.suffix in {".cmake", ".sh"} or path.name == "CMakeLists.txt":
            yield path, path.read_text(encoding="utf-8")


def _built(root):
    """Returns (directories whose .cc files are all built, patterns of single paths)."""
    layers = _LAYER.findall((root / "docs/layers.txt").read_text(encoding="utf-8"))
    folders = {*_ALWAYS_BUILT, *(f"{source_text.folder_of_layer(layer)}/{layer}" for layer in layers)}
    folders |= {f"tests/unit/{part}" for layer in layers for part in (layer, layer.split("/")[0])}
    patterns = []
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
    """Converts a/b/../c to a/c."""
    parts = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _folder(path, root):
    return path.parent.relative_to(root).as_posix()


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
        elif not {_folder(path, root), _folder(path.parent, root) + "/*"} & folders and not any(pattern.match(name) for pattern in patterns):
            yield path, 1, "no CMake file builds this file"
