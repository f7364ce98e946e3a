#!/usr/bin/env python3
"""check_layers.py [ROOT]: no room of src/ includes a room that docs/layers.txt does not give it, and public headers stay public.

Fails on: a room that the list lacks, an include upwards, a quoted include without its room, a public header that includes or names
anything of src/, an include of a public header from base/.
"""
import pathlib
import re
import sys

import source_text

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<open>["<])(?P<path>[^">\n]+)[">]', re.M)
# What the public interface may take from Abseil; the attributes mark lifetimes for the compiler and add no type.
PUBLIC_ABSEIL = {"absl/base/attributes.h", "absl/status/status.h", "absl/status/statusor.h"}


def read_layers(path):
    """room -> the rooms it may include; rooms have to be listed lowest first."""
    allowed = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, _, below = line.partition(":")
        unknown = set(below.split()) - allowed.keys()
        if unknown:
            sys.exit(f"{path}:{number}: {room} names {sorted(unknown)} before they are defined")
        allowed[room.strip()] = set(below.split())
    return allowed


def check_room_file(path, room, allowed):
    text = path.read_text(encoding="utf-8")
    if room not in allowed:
        yield path, 1, f"room '{room}' is missing from docs/layers.txt"
        return
    for found in INCLUDE.finditer(text):
        target, line = found.group("path"), source_text.line_of(text, found.start("path"))
        first = target.split("/")[0]
        if first == "stele":
            if room == "base":
                yield path, line, "base is below the public headers and may not include them"
        elif found.group("open") == "<":
            continue
        elif "/" not in target:
            yield path, line, f'"{target}" has to be included as "{room}/{target}"'
        elif first in allowed and first != room and first not in allowed[room]:
            yield path, line, f"'{room}' may not include '{first}'"
        elif first in ("tests", "tools", "src", ".", ".."):
            yield path, line, f'"{target}": rooms include "room/file.h" and "stele/file.h"'


def check_public_header(path, allowed):
    text = path.read_text(encoding="utf-8")
    for found in INCLUDE.finditer(text):
        target, line = found.group("path"), source_text.line_of(text, found.start("path"))
        first = target.split("/")[0]
        if first in allowed or first == "src":
            yield path, line, f"a public header may not include '{target}'"
        elif first == "absl" and target not in PUBLIC_ABSEIL:
            yield path, line, f"of Abseil a public header includes only {', '.join(sorted(PUBLIC_ABSEIL))}"
        elif "/" in target and first not in ("absl", "stele"):
            yield path, line, f"a public header needs the standard library and Abseil's status only, not '{target}'"
    named = re.compile(r"\bsrc/|(?<![\w/.<])(?:%s)/\w+\.(?:h|cc)\b" % "|".join(map(re.escape, allowed)))
    for found in named.finditer(text):
        yield path, source_text.line_of(text, found.start()), f"a public header may not name '{found.group(0)}', its readers do not have it"


def check(root):
    root = pathlib.Path(root)
    allowed = read_layers(root / "docs/layers.txt")
    findings = []
    for path in source_text.code_files(root):
        parts = path.relative_to(root).parts
        if parts[0] == "src":
            findings += check_room_file(path, parts[1] if len(parts) > 2 else "", allowed)
        elif parts[0] == "include":
            findings += check_public_header(path, allowed)
    return findings


if __name__ == "__main__":
    sys.exit(source_text.finish("layers", check(sys.argv[1] if len(sys.argv) > 1 else ".")))
