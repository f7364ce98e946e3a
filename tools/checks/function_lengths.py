"""Finds functions that are too long by matching braces. Needs no compiler and reads tests and tools
too.
"""
import re

import source_text

FUNCTION_LINES_MAX = 70
_NOT_A_FUNCTION = re.compile(r"^(?:\[\[[^\]]*\]\]\s*)*(?:template\s*<.*>\s*)?(?:if|else|for|while|switch|do|namespace|class|struct|enum|union|extern)\b", re.S)
# One of these follows an initializer inside a body. None of them follows a function's body.
_AFTER_INITIALISER = tuple(",{).([:?")
_BEFORE_HEAD = re.compile(r"\s*(?:(?:public|protected|private)\s*:\s*)*")


def _match_braces(code):
    """Returns offset of each '{' -> offset of its '}'. Omits an unmatched brace."""
    matching, opened = {}, []
    for found in re.finditer(r"[{}]", code):
        if found.group(0) == "{":
            opened.append(found.start())
        elif opened:
            matching[opened.pop()] = found.start()
    return matching


def functions(code):
    """Yields (offset of the signature, offset of the closing brace, name) of every outermost
    function. `code` is the result of source_text.code_only.
    """
    code = source_text.without_directives(code)
    matching = _match_braces(code)
    head_start, offset, parentheses = 0, 0, 0
    while offset < len(code):
        character = code[offset]
        if character in "()":
            parentheses += 1 if character == "(" else -1
        elif character == ";" and parentheses == 0:
            head_start = offset + 1
        elif character == "}":
            head_start, parentheses = offset + 1, 0
        elif character == "{" and offset in matching:
            close = matching[offset]
            following = code[close + 1 :].lstrip()[:1] if close + 1 < len(code) else ""
            head_start += len(_BEFORE_HEAD.match(code[head_start:offset]).group(0))
            head = code[head_start:offset].strip()
            if parentheses > 0 or following in _AFTER_INITIALISER and following and not _NOT_A_FUNCTION.match(head):
                offset = close  # an initializer: the head continues after it
            elif "(" in head and not _NOT_A_FUNCTION.match(head):
                yield head_start, close, _name(head)
                offset, head_start = close, close + 1
            else:
                head_start = offset + 1  # a namespace or a class: look inside
        offset += 1


def _name(head):
    before = re.sub(r"\s+", " ", head.split("(")[0]).strip()
    return before.split(" ")[-1] if before else "function"


def long_functions(code):
    for start, close, name in functions(code):
        first, last = source_text.line_of(code, start), source_text.line_of(code, close)
        if last - first + 1 > FUNCTION_LINES_MAX:
            yield first, f"{name} has {last - first + 1} lines, at most {FUNCTION_LINES_MAX}"
