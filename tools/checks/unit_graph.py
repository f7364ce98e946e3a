"""Checks the units of src/ and tools/steled: a header and the .cc file of its name. Units do not include each other
in a cycle, and a directory has few units.

unit_graph.txt lists the exceptions. They can only shrink: one that is no longer needed is a finding.
"""
import re

import source_text

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?P<path>[^">\n]+)\.h"', re.M)
_EXCEPTIONS = "tools/checks/unit_graph.txt"
UNITS_MAX = 12


def _exceptions(root):
    """Returns (directory -> how many units it may have, the known cycles)."""
    large, cycles = {}, set()
    path = root / _EXCEPTIONS
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        words = line.split("#")[0].split()
        if len(words) == 2 and words[1].isdigit():
            large[words[0]] = int(words[1])
        elif words:
            cycles.add(tuple(words))
    return large, cycles


def _unit_of(name):
    """A header X_inline.h is a part of the unit X."""
    return name.removesuffix("_inline")


def _units(root):
    """Returns unit -> (its first file, the units that it includes)."""
    units = {}
    for path in source_text.layered_files(root):
        name = _unit_of(source_text.name_in_layers(root, path).rpartition(".")[0])
        first, included = units.setdefault(name, (path, set()))
        included |= {_unit_of(found) for found in _INCLUDE.findall(path.read_text(encoding="utf-8"))}
        if path.suffix == ".h":
            units[name] = (path, included)
    return {name: (path, (included & units.keys()) - {name}) for name, (path, included) in units.items()}


def _reached(units, start):
    """Returns all units that `start` includes, directly or not."""
    reached, todo = set(), [start]
    while todo:
        for name in units[todo.pop()][1] - reached:
            reached.add(name)
            todo.append(name)
    return reached


def unit_cycles(root):
    known = _exceptions(root)[1]
    units = _units(root)
    reached = {name: _reached(units, name) for name in units}
    cycles = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in units if name in reached[name]}
    for cycle in sorted(cycles - known):
        yield units[cycle[0]][0], 1, f"these units include each other in a cycle: {', '.join(cycle)}"
    for cycle in sorted(known - cycles):
        yield root / _EXCEPTIONS, 1, f"the cycle of {', '.join(cycle)} is gone: delete its line"


def large_directories(root):
    known = _exceptions(root)[0]
    directories = {}
    for name, (path, _) in sorted(_units(root).items()):
        directories.setdefault(path.parent, []).append(name)
    for folder, units in directories.items():
        name = units[0].rpartition("/")[0]
        allowed = known.get(name, UNITS_MAX)
        if len(units) > allowed:
            yield folder, 1, f"{len(units)} units, at most {allowed} are allowed: divide the directory"
        elif name in known and len(units) < allowed:
            yield root / _EXCEPTIONS, 1, f"{name} has {len(units)} units, not {allowed}: state fewer, or delete the line"
