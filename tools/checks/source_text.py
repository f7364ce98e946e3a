"""Reads the project's files for the checks: lists the files, and blanks comments and strings in C++
text.
"""
import pathlib
import re

CODE_FOLDERS = ("include", "src", "tests", "tools", "bench", "examples")
LAYERED_FOLDERS = ("src", "tools/steled")
SKIPPED_FOLDERS = {".git", ".cache", "build", "__pycache__"}
CODE_SUFFIXES = {".cc", ".h"}

# Longest first: raw strings, then comments, strings and characters. A ' between digits is a digit
# separator.
_TOKEN = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=mark)"'
    r"|//[^\n]*(?:\\\n[^\n]*)*"
    r"|/\*(?:.|\n)*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def _blank_token(found):
    token = found.group(0)
    if token.startswith("/"):
        return _blank(token)
    # A string stays a string, so that the code around it still parses. Only its contents are
    # blanked.
    return '"' + _blank(token[1:-1]) + '"'


def folder_of_layer(layer):
    """Returns where a directory of docs/layers.txt is: the server's in tools/, the others in src/."""
    return "tools" if layer.split("/")[0] == "steled" else "src"


def layered_files(root):
    """Returns the C++ files whose includes docs/layers.txt restricts."""
    return [path for path in project_files(root, LAYERED_FOLDERS) if path.suffix in CODE_SUFFIXES]


def name_in_layers(root, path):
    """Returns the name by which a layered file is included: wal/log.h, steled/rpc/status.h."""
    parts = path.relative_to(root).parts
    return "/".join(parts[1:])


def code_only(text):
    """Returns C++ text of the same shape (lines and columns) without the contents of comments and
    strings.
    """
    return _TOKEN.sub(_blank_token, text)


def without_directives(text):
    """Returns the same text without preprocessor lines, because macros are not functions."""
    return _DIRECTIVE.sub(lambda found: _blank(found.group(0)), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def project_files(root, folders=None):
    """Returns every file of the project below root, or below some of its directories, sorted."""
    root = pathlib.Path(root)
    starts = [root] if folders is None else [root / folder for folder in folders]
    found = []
    for start in starts:
        if start.is_dir():
            found += _files_below(start)
    return sorted(found)


def _files_below(folder):
    for path in folder.iterdir():
        if path.is_symlink():
            continue
        if path.is_dir():
            if path.name not in SKIPPED_FOLDERS and not path.name.startswith("cmake-build"):
                yield from _files_below(path)
        elif path.is_file():
            yield path


def code_files(root):
    return [path for path in project_files(root, CODE_FOLDERS) if path.suffix in CODE_SUFFIXES]


def finish(name, findings):
    """Prints the findings as FILE:LINE: text and returns the exit code."""
    for path, line, text in findings:
        print(f"{path}:{line}: {text}")
    print(f"{name}: {len(findings)} finding(s)" if findings else f"{name}: clean")
    return 1 if findings else 0
