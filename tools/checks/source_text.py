"""Reading the project's files for the checks: which files there are, and C++ text with its comments and strings blanked."""
import pathlib
import re

CODE_FOLDERS = ("include", "src", "tests", "tools", "bench")
SKIPPED_FOLDERS = {".git", ".cache", "build", "__pycache__"}
CODE_SUFFIXES = {".cc", ".h"}

# Longest first: raw strings, then comments, strings and characters; a ' between digits separates digits and opens nothing.
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
    # A string stays a string, so that code around it still parses; only what is in it goes.
    return '"' + _blank(token[1:-1]) + '"'


def code_only(text):
    """C++ text of the same shape (lines and columns) without the contents of comments and strings."""
    return _TOKEN.sub(_blank_token, text)


def without_directives(text):
    """The same without preprocessor lines: macros are not functions."""
    return _DIRECTIVE.sub(lambda found: _blank(found.group(0)), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def project_files(root, folders=None):
    """Every file below root (or below some of its folders) that is the project's own, sorted."""
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
    """Prints the findings as FILE:LINE: text and gives the exit code."""
    for path, line, text in findings:
        print(f"{path}:{line}: {text}")
    print(f"{name}: {len(findings)} finding(s)" if findings else f"{name}: clean")
    return 1 if findings else 0
