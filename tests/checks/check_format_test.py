#!/usr/bin/env python3
"""check_format fails on a file that clang-format would change, and `--fix` repairs it."""
import sys
import unittest

from planted_tree import ROOT, PlantedTree

import check_format

STYLE = {".clang-format": (ROOT / ".clang-format").read_text(encoding="utf-8")}
UNFORMATTED = "int  A( ){return 1;}\n"


class CheckFormat(unittest.TestCase):
    def setUp(self):
        self.formatter = check_format.find_formatter()

    def test_a_formatted_file_is_clean(self):
        with PlantedTree({**STYLE, "src/wal/log.cc": "int A() { return 1; }\n"}) as root:
            self.assertEqual(check_format.check(root, self.formatter), [])

    def test_a_nested_inline_namespace_is_clean(self):
        text = "namespace a::inline b {\nint A();\nint B();\n}  // namespace a::inline b\n"
        with PlantedTree({**STYLE, "src/wal/log.h": text}) as root:
            self.assertEqual(check_format.check(root, self.formatter), [])
        with PlantedTree({**STYLE, "src/wal/log.h": text + UNFORMATTED}) as root:
            self.assertEqual(len(check_format.check(root, self.formatter)), 1)

    def test_an_unformatted_file_is_found(self):
        with PlantedTree({**STYLE, "src/wal/log.cc": "int B() { return 1; }\n" + UNFORMATTED}) as root:
            found = check_format.check(root, self.formatter)
            self.assertEqual([(path.name, line) for path, line, _ in found], [("log.cc", 2)])

    def test_each_of_many_is_found(self):
        count = 2 * check_format.FILES_AT_ONCE + 1
        odd = (0, check_format.FILES_AT_ONCE, check_format.FILES_AT_ONCE + 1, count - 1)
        with PlantedTree({**STYLE, **{f"src/wal/log{i:04}.cc": UNFORMATTED if i in odd else "int A();\n" for i in range(count)}}) as root:
            found = check_format.check(root, self.formatter)
            self.assertEqual([path.name for path, _, _ in found], [f"log{i:04}.cc" for i in odd])

    def test_fix_mends_it(self):
        with PlantedTree({**STYLE, "src/wal/log.cc": UNFORMATTED}) as root:
            check_format.check(root, self.formatter, fix=True)
            self.assertEqual((root / "src/wal/log.cc").read_text(encoding="utf-8"), "int A() { return 1; }\n")
            self.assertEqual(check_format.check(root, self.formatter), [])


if __name__ == "__main__":
    if check_format.find_formatter() is None:
        print(f"skipped, clang-format {check_format.VERSION} is not installed")
        sys.exit(check_format.SKIPPED)
    unittest.main()
