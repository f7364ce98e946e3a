#!/usr/bin/env python3
"""check_prose.py [--list] [ROOT]: limits the share of sentences that are hard to read.

A sentence of a comment or a document is counted as hard to read if it has more than 35 words, or uses one of the
constructions in HARD (CONTRIBUTING.md shows what to write instead). This finds habits, not every bad sentence.
Each directory is a part with a limit of its own, and so are README.md and CONTRIBUTING.md. The limit is a share of
the sentences. --list prints each sentence that counts, also below the limit.
"""
import pathlib
import re
import sys

import source_text

WORDS_MAX = 35
WORDS_MIN = 4  # shorter ones are headings, labels and lists of names
SHARE_MAX = 0.04
PUBLIC_SHARE_MAX = 0.035  # of the public headers
SENTENCES_MIN = 50  # a part with fewer sentences counts as having this many: their share says little
OWN_PARTS = ("README.md", "CONTRIBUTING.md")
VERBATIM = ("tests/contract/api_contract.cc", "tests/golden/", "tests/fuzz/corpus/")

# A pattern, and the words that plain English uses instead.
HARD = (
    (r"whoever|whatever (?:it|they|he) (?:is|are)|for whom|by who\b|for who\b", "name the caller, thread or file"),
    (r"who (?:asks|wants|begins|reads|has|is|may|found|opens|knows|makes|gives|holds|finds|only|comes|does|writes)",
     "name the caller, thread or file"),
    (r"what (?:came|comes|goes|is|was|are|were|has|had|it|they|one|a|an|of|all|none|no|lies|stands|may|can)",
     "use a noun"),
    (r"nobody|none of whom", "no thread, no caller, no file"),
    (r"anew|in vain|but for|of which|as it stands|beside", "again; fails; except; next to"),
    (r"lets? go|letting go|gives? way|tak(?:e|es|en) up|takes? along", "frees, releases, evicts, resumes"),
    (r"(?:is|are) to be|(?:is|are) come to|held against|reckon\w*", "must be; reaches; is compared with"),
    (r"told|tells?|answers", "notifies, reports, returns"),
    (r"stands?|lies", "is, is stored, is located"),
    (r"at rest|of its own|of their own", "idle, cold; own, separate"),
)
HARD_WORDS = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), advice) for pattern, advice in HARD]
SENTENCE_END = re.compile(r"(?<=[.;:])\s+(?=[A-Z`*\[-])")
COMMENT = re.compile(r"\s*//+ ?(.*)")
TRAILING_COMMENT = re.compile(r"[;{},)] +// (.*)$")


def comment_blocks(text):
    """(line, text) of each block of whole-line comments and of each comment after code."""
    block, start = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        whole_line = COMMENT.match(line)
        if whole_line:
            start = start if block else number
            block.append(whole_line.group(1))
            continue
        if block:
            yield start, " ".join(block)
            block = []
        trailing = TRAILING_COMMENT.search(line)
        if trailing:
            yield number, trailing.group(1)
    if block:
        yield start, " ".join(block)


def document_blocks(text):
    """(line, text) of each paragraph and list; headings, tables and code are left out."""
    block, start, is_code = [], 0, False
    for number, line in enumerate(text.split("\n"), 1):
        is_fence = line.startswith("```")
        is_code ^= is_fence
        stripped = line.strip()
        if is_code or is_fence or not stripped or stripped[0] in "|#" or line.startswith("    "):
            if block:
                yield start, " ".join(block)
                block = []
            continue
        start = start if block else number
        block.append(stripped)
    if block:
        yield start, " ".join(block)


def sentences(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    blocks = document_blocks(text) if path.suffix == ".md" else comment_blocks(text)
    for line, block in blocks:
        for sentence in SENTENCE_END.split(block):
            if len(sentence.split()) >= WORDS_MIN:
                yield line, sentence


def why_hard(sentence):
    """Why a sentence counts as hard to read, or None."""
    for pattern, advice in HARD_WORDS:
        found = pattern.search(sentence)
        if found:
            return f"'{found.group(0)}' (better: {advice})"
    words = len(sentence.split())
    return f"{words} words" if words > WORDS_MAX else None


def part_of(path, root):
    place = path.relative_to(root).as_posix()
    return place if place in OWN_PARTS else path.parent.relative_to(root).as_posix()


def limit_of(part, sentence_count):
    share = PUBLIC_SHARE_MAX if part.startswith("include/") else SHARE_MAX
    return int(share * max(sentence_count, SENTENCES_MIN))


def survey(root):
    """Of each part of the tree the number of sentences, and its hard ones as (path, line, text)."""
    counts, hard = {}, {}
    for path in source_text.project_files(root):
        if path.suffix not in {".md", ".h", ".cc"} or path.relative_to(root).as_posix().startswith(VERBATIM):
            continue
        part = part_of(path, root)
        for line, sentence in sentences(path):
            counts[part] = counts.get(part, 0) + 1
            reason = why_hard(sentence)
            if reason:
                hard.setdefault(part, []).append((path, line, f"{reason}: {sentence}"))
    return counts, hard


def check(root):
    """The hard sentences of the parts that have too many of them."""
    findings = []
    counts, hard = survey(pathlib.Path(root))
    for part, found in sorted(hard.items()):
        if len(found) > limit_of(part, counts[part]):
            findings += found
    return findings


def main():
    places = [argument for argument in sys.argv[1:] if argument != "--list"]
    root = pathlib.Path(places[0] if places else ".")
    counts, hard = survey(root)
    if "--list" in sys.argv:
        for path, line, text in (finding for part in sorted(hard) for finding in hard[part]):
            print(f"{path}:{line}: {text}")
    for part in sorted(counts):
        number = len(hard.get(part, []))
        print(f"{part}: {number} of {counts[part]} sentences are hard to read ({100 * number / counts[part]:.1f} %)")
    return source_text.finish("prose", check(root))


if __name__ == "__main__":
    sys.exit(main())
