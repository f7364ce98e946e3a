#!/usr/bin/env python3
"""check_unity.py [ROOT]: finds a name that two files of one program define in an unnamed namespace, a function in an
unnamed namespace that has the name of a function in a header of the program, and a type or variable
there that has the name of one in a header of the same library.

Builds from nothing, such as those of continuous integration, compile several files as one. There such
a name is a redefinition, while a build that compiles each file by itself accepts it. Functions with
the same name and other parameter types may coexist, as may equal aliases. A function in an unnamed
namespace hides the one of the header, also from the other files. The name of a type or variable
becomes ambiguous if another of these files includes the header.
"""
import collections
import pathlib
import re
import sys

import source_text

_GTEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
_TYPE = re.compile(r"^(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\([^)]*\)\s*)?(\w+)")
_ALIAS = re.compile(r"^using\s+(\w+)\s*=\s*(.*)$")
# Each file in these directories is a program.
_SINGLE_FILES = ("bench/micro", "tests/fuzz", "tests/preload", "examples")
_PREFIX = re.compile(r"^(?:\[\[[^\]]*\]\]\s*|ABSL_\w+(?:\([^)]*\))?\s*|(?:static|inline|constexpr|constinit|extern|thread_local)\s+)+")
_FUNCTION = re.compile(r"^[^=({;]*?([~\w:]+)\s*\(")
_VARIABLE = re.compile(r"([\w:]+)\s*(?:\[[^\]]*\]\s*)*$")


def group_of(name):
    """Returns the program or library whose files may be compiled with this one."""
    parts = pathlib.PurePosixPath(name).parts
    if parts[:2] == ("tests", "support"):
        return "tests/support/" + parts[2].split("_")[0]
    for program in (("tools", "steled"), ("tests", "steled")):
        if parts[:2] == program:
            return "/".join(program + (("transport",) if parts[2] == "transport" else ()))
    if parts[0] == "src" or parts[:2] == ("tools", "stele"):
        return "/".join(parts[:2])  # a layer, or the command
    folder = "/".join(parts[:-1])
    return name if folder in _SINGLE_FILES else folder


def library_of(name):
    """Returns the library of a file of src/, whose headers its files may include; otherwise the group."""
    parts = pathlib.PurePosixPath(name).parts
    if parts[0] != "src":
        return group_of(name)
    return "src/" + parts[1] if parts[1] in ("lab", "remote") else "src"


def _without_template(head):
    if not head.startswith("template"):
        return head
    depth = 0
    for place, character in enumerate(head):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == ">" and depth == 0:
            rest = head[place + 1:].lstrip()
            return re.sub(r"^requires\s+\S+\s+", "", rest)
    return head


def _parameters(head, start):
    """Returns the types of the parameters that begin at `start`, behind the parenthesis."""
    depth, current, types = 1, "", []
    for character in head[start:]:
        depth += {"(": 1, "<": 1, "[": 1, "{": 1, ")": -1, ">": -1, "]": -1, "}": -1}.get(character, 0)
        if depth == 0:
            break
        if character == "," and depth == 1:
            types.append(current)
            current = ""
        else:
            current += character
    types.append(current)
    return tuple(re.sub(r"\s+|\b\w+$", "", re.sub(r"\s*=.*$", "", one.strip(), flags=re.S)) if " " in one.strip() or one.strip().endswith(("&", "*"))
                 else one.strip() for one in types)


def _declared(head, has_body):
    """Returns (name, signature) of a statement at namespace level; None if it defines no name."""
    head = _without_template(" ".join(head.split()))
    test = _GTEST.match(head)
    if test:
        return ".".join(test.groups()), None
    head = _PREFIX.sub("", head)
    alias = _ALIAS.match(head)
    if alias:
        return alias.group(1), "= " + alias.group(2)
    if head.startswith(("using ", "namespace ", "friend ", "static_assert", "typedef ")):
        return None
    kind = _TYPE.match(head)
    if kind and "(" not in head.split("{")[0].replace("alignas(", ""):
        return (kind.group(1), None) if has_body else None
    function = _FUNCTION.match(head)
    if function:
        name = function.group(1)
        return (name, _parameters(head, function.end())) if has_body and "::" not in name and re.match(r"[A-Za-z_]", name) else None
    variable = _VARIABLE.search(re.split(r"[={]", head)[0].rstrip())
    return (variable.group(1), None) if variable and " " in head and "::" not in variable.group(1) else None


def definitions(text, is_header=False):
    """Yields (line, namespace, name, signature) of the definitions in unnamed namespaces; of a header the functions in named ones."""
    text = source_text.without_directives(source_text.code_only(text))
    spaces, head, line, head_line, skipped, depth = [], "", 1, 1, 0, 0
    for character in text:
        if character == "\n":
            line += 1
        if skipped:
            skipped += {"{": 1, "}": -1}.get(character, 0)
            continue
        if not head.strip():
            head, head_line = "", line
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "{" and depth == 0:
            space = re.match(r"^\s*(?:inline\s+)?namespace\s*([\w:]*)\s*$", re.sub(r"::inline\s+", "::", head))
            if space or head.strip().startswith('extern "'):
                spaces.append(space.group(1) if space else "extern")
            else:
                found = _declared(head, True)
                if found and ("" in spaces) != is_header:
                    yield (head_line, "::".join(spaces), *found)
                skipped = 1
                if re.match(r"^[^()]*=\s*$|^[^()]*\w\s*$", head.strip()) and not _TYPE.match(_without_template(head.strip())):
                    head = "initialized "
                    continue
            head = ""
        elif character == "}" and depth == 0:
            if spaces:
                spaces.pop()
            head = ""
        elif character == ";" and depth == 0:
            found = None if head.startswith("initialized") else _declared(head, is_header)
            if found and ("" in spaces) != is_header:
                yield (head_line, "::".join(spaces), *found)
            head = ""
        else:
            head += character


def _may_coexist(signature, other):
    if isinstance(signature, str):
        return signature == other  # equal aliases
    return isinstance(signature, tuple) and isinstance(other, tuple) and signature != other  # overloads


def check(root):
    """Yields (path, line, text) of each second definition."""
    first = collections.defaultdict(list)
    in_headers, other_names = {}, {}
    for path in source_text.project_files(root, source_text.CODE_FOLDERS):
        if path.suffix != ".h":
            continue
        group = group_of(path.relative_to(root).as_posix())
        for line, space, name, signature in definitions(path.read_text(encoding="utf-8"), is_header=True):
            place = f"{path.relative_to(root).as_posix()}:{line}"
            if isinstance(signature, tuple):
                in_headers[group, space, name] = place
            else:
                other_names[library_of(path.relative_to(root).as_posix()), space, name] = (place, signature)
    for path in source_text.project_files(root, source_text.CODE_FOLDERS):
        if path.suffix != ".cc":
            continue
        group = group_of(path.relative_to(root).as_posix())
        library = library_of(path.relative_to(root).as_posix())
        for line, space, name, signature in definitions(path.read_text(encoding="utf-8")):
            for other, other_line, other_signature in first[group, space, name]:
                if other != path and not _may_coexist(signature, other_signature):
                    yield path, line, (f"'{name}' is also defined in {other.relative_to(root).as_posix()}:{other_line}: builds that "
                                       "compile several files as one fail; rename one")
            first[group, space, name].append((path, line, signature))
            outer = "::".join(part for part in space.split("::") if part)
            if isinstance(signature, tuple) and (group, outer, name) in in_headers:
                yield path, line, (f"'{name}' hides the function of {in_headers[group, outer, name]} from the files that are compiled "
                                   "with this one; rename it")
            other_place, other_signature = other_names.get((library, outer, name), ("", None))
            if other_place and not isinstance(signature, tuple) and not _may_coexist(signature, other_signature):
                yield path, line, (f"'{name}' is also the name of {other_place}: it is ambiguous if a file that is "
                                   "compiled with this one includes that; rename one")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(check(root))
    for path, line, text in found:
        print(f"{path.relative_to(root).as_posix()}:{line}: {text}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
