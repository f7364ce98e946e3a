"""Checks the labels "Used by:" and "Calls:" in the first comment of a header against the includes.

A file that "Used by:" names includes this header, directly or not. A file that "Calls:" names is
included by this header or its .cc file in the same way. A name in parentheses only has to exist.
"""
import re

import source_text

_FOLDERS = ("include", "src", "tools", "tests", "bench")
# The directories that files are named from, in comments and in includes.
_BASES = ("", "src", "include", "tools", "tests", "tests/support")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
_LABEL = re.compile(r"// ([A-Z][\w-]*|Used by):(?: |$)")
_NAME = re.compile(r"(?<![\w/.-])(?:[\w-]+/)*\w+\.(?:h|cc)\b")
_IN_PARENTHESES = re.compile(r"\([^()]*\)")


class _Units:
    """A unit is a header with the .cc file of its name. Its key is the path without the suffix."""

    def __init__(self, root):
        paths = [path for path in source_text.project_files(root, _FOLDERS) if path.suffix in source_text.CODE_SUFFIXES]
        self.texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
        self.included = {}
        for name, text in self.texts.items():
            found = {self.find(included, name) for included in _INCLUDE.findall(text)} - {None}
            self.included.setdefault(_unit(name), set()).update(map(_unit, found))
        self.reached = {}

    def find(self, name, start):
        """Returns the path of the file that the file `start` calls `name`, or None."""
        for base in (start.rpartition("/")[0], *_BASES):
            path = f"{base}/{name}" if base else name
            if path in self.texts:
                return path
        return None

    def includes(self, start, other):
        if start not in self.reached:
            reached, todo = {start}, [start]
            while todo:
                new = self.included.get(todo.pop(), set()) - reached
                reached |= new
                todo += new
            self.reached[start] = reached
        return other in self.reached[start]


def _unit(path):
    return path.rpartition(".")[0]


def _blocks(text):
    """Yields (line number, label, text) of each label in a header's first comment."""
    number, label, said = 0, None, []
    for at, line in enumerate(text.split("#pragma once", 1)[0].split("\n"), 1):
        found = _LABEL.match(line)
        if found or not line.startswith("//   "):
            if label:
                yield number, label, " ".join(said)
            number, label, said = at, found and found.group(1), []
            line = line[found.end():] if found else ""
        said.append(line.removeprefix("//").strip())


def _names(units, name, said):
    """Yields (name in the text, path or None, whether it is outside of parentheses)."""
    outside = set(_NAME.findall(_IN_PARENTHESES.sub("", said)))
    for found in sorted(set(_NAME.findall(said))):
        yield found, units.find(found, name), found in outside


def wrong_uses(root):
    units = _Units(root)
    for name, text in units.texts.items():
        for number, label, said in _blocks(text) if name.endswith(".h") else ():
            if label == "Path":
                yield root / name, number, "use the labels 'Used by:' and 'Calls:' instead of 'Path:'"
            if label not in ("Used by", "Calls"):
                continue
            if "->" in said:
                yield root / name, number, f"write a sentence after '{label}:', not an arrow"
            for other, path, is_outside in _names(units, name, said):
                pair = (_unit(path), _unit(name)) if path and label == "Used by" else (_unit(name), _unit(path or ""))
                if path is None:
                    yield root / name, number, f"'{other}' does not exist"
                elif is_outside and not units.includes(*pair):
                    yield root / name, number, f"{pair[0]} does not include {pair[1]}.h"
