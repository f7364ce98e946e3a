#!/usr/bin/env python3
"""check_layers.py [ROOT]: checks that no directory of src/ or tools/steled includes a directory
that docs/layers.txt does not allow, that public headers stay public, and that units (a header and
its .cc file) do not include each other in a cycle.

It fails on: a directory that the list lacks, an include of a higher layer, a permission that no
include uses, a quoted include without a directory, a public header that includes or names anything
of src/, an include of a public header in base/, a cycle of units, and a directory with many units.
"""
import pathlib
import re
import sys

import source_text
from unit_graph import large_directories, unit_cycles

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<open>["<])(?P<path>[^">\n]+)[">]', re.M)
# Abseil headers that public headers may include. The attributes header marks lifetimes for the
# compiler and adds no type.
PUBLIC_ABSEIL = {"absl/base/attributes.h", "absl/status/status.h", "absl/status/statusor.h"}


def read_layers(path):
    """Returns directory -> the directories it may include. The list must be in order, lowest first."""
    allowed = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        layer, _, below = line.partition(":")
        unknown = set(below.split()) - allowed.keys()
        if unknown:
            sys.exit(f"{path}:{number}: {layer} names {sorted(unknown)} before their own lines")
        allowed[layer.strip()] = set(below.split())
    return allowed


def layer_of(path):
    """Returns the layer of a path below src/ or tools/: its directory."""
    return path.rpartition("/")[0]


def check_layer_file(path, layer, allowed):
    text = path.read_text(encoding="utf-8")
    if layer not in allowed:
        yield path, 1, f"layer '{layer}' is missing from docs/layers.txt"
        return
    for found in INCLUDE.finditer(text):
        target, line = found.group("path"), source_text.line_of(text, found.start("path"))
        first = target.split("/")[0]
        if first == "stele":
            if layer == "base":
                yield path, line, "base is below the public headers and must not include them"
        elif found.group("open") == "<":
            continue
        elif "/" not in target:
            yield path, line, f'"{target}" must be included as "{layer}/{target}"'
        elif (below := layer_of(target)) in allowed and below != layer and below not in allowed[layer]:
            yield path, line, f"'{layer}' must not include '{below}'"
        elif below not in allowed and first in top_folders(allowed):
            yield path, line, f"'{target}' is in no directory of docs/layers.txt"
        elif first in ("tests", "tools", "src", ".", ".."):
            yield path, line, f'"{target}": layers include "layer/file.h" and "stele/file.h"'


def top_folders(allowed):
    """Returns the directories directly below src/ and tools/ that contain the listed layers."""
    return {layer.split("/")[0] for layer in allowed}


def unused_permissions(root, layers, allowed):
    """A permission that no include uses promises an edge that does not exist."""
    used = {layer: set() for layer in allowed}
    for path in source_text.layered_files(root):
        layer = layer_of(source_text.name_in_layers(root, path))
        if layer in allowed:
            used[layer] |= {layer_of(target) for _, target in INCLUDE.findall(path.read_text(encoding="utf-8"))}
    for number, line in enumerate(layers.read_text(encoding="utf-8").splitlines(), 1):
        layer = line.split("#")[0].partition(":")[0].strip()
        if layer in allowed and (root / source_text.folder_of_layer(layer) / layer).is_dir():
            for unused in sorted(allowed[layer] - used[layer]):
                yield layers, number, f"'{layer}' includes nothing of '{unused}': delete the permission"


def check_public_header(path, allowed):
    text = path.read_text(encoding="utf-8")
    for found in INCLUDE.finditer(text):
        target, line = found.group("path"), source_text.line_of(text, found.start("path"))
        first = target.split("/")[0]
        if first in top_folders(allowed) or first == "src":
            yield path, line, f"a public header must not include '{target}'"
        elif first == "absl" and target not in PUBLIC_ABSEIL:
            yield path, line, f"from Abseil a public header may include only {', '.join(sorted(PUBLIC_ABSEIL))}"
        elif "/" in target and first not in ("absl", "stele"):
            yield path, line, f"a public header may include only the standard library and Abseil's status, not '{target}'"
    named = re.compile(r"\bsrc/|(?<![\w/.<])(?:%s)/[\w/]+\.(?:h|cc)\b" % "|".join(map(re.escape, sorted(top_folders(allowed)))))
    for found in named.finditer(text):
        yield path, source_text.line_of(text, found.start()), f"a public header must not name '{found.group(0)}', which is not installed"


def check(root):
    root = pathlib.Path(root)
    layers = root / "docs/layers.txt"
    allowed = read_layers(layers)
    findings = [*unit_cycles(root), *large_directories(root), *unused_permissions(root, layers, allowed)]
    for path in source_text.layered_files(root):
        findings += check_layer_file(path, layer_of(source_text.name_in_layers(root, path)), allowed)
    for path in source_text.project_files(root, ("include",)):
        if path.suffix in source_text.CODE_SUFFIXES:
            findings += check_public_header(path, allowed)
    return findings


if __name__ == "__main__":
    sys.exit(source_text.finish("layers", check(sys.argv[1] if len(sys.argv) > 1 else ".")))
