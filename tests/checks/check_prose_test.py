#!/usr/bin/env python3
"""check_prose fails on a part of the tree with too many sentences that are hard to read, and only on that part."""
import unittest

from planted_tree import messages

import check_prose

PLAIN = "// The log appends records to a segment.\nint a;\n"
HARD = "// Whoever appends records waits for the segment.\nint b;\n"
LONG = "// The log appends " + "records and " * 20 + "bytes.\nint c;\n"


def header(sentences):
    return "// wal/log.h: the log.\n#pragma once\n" + sentences


class CheckProse(unittest.TestCase):
    def test_plain_sentences_are_clean(self):
        self.assertEqual(messages(check_prose.check, {"src/wal/log.h": header(100 * PLAIN)}), [])

    def test_four_of_a_hundred_are_allowed(self):
        self.assertEqual(messages(check_prose.check, {"src/wal/log.h": header(96 * PLAIN + 4 * HARD)}), [])

    def test_five_of_a_hundred_are_found(self):
        found = messages(check_prose.check, {"src/wal/log.h": header(95 * PLAIN + 5 * HARD)})
        self.assertEqual(len(found), 5)
        self.assertIn("src/wal/log.h:193: 'Whoever' (better: name the caller, thread or file): ", found[0])

    def test_long_sentences_are_found(self):
        found = messages(check_prose.check, {"src/wal/log.h": header(95 * PLAIN + 5 * LONG)})
        self.assertEqual(len(found), 5)
        self.assertIn("44 words", found[0])

    def test_documents_count_but_their_code_and_tables_do_not(self):
        hard = "Whoever writes a row waits for it.\n\n"
        self.assertEqual(len(messages(check_prose.check, {"docs/page.md": 5 * hard})), 5)
        self.assertEqual(messages(check_prose.check, {"docs/page.md": "```\n" + 5 * hard + "```\n| whoever | writes | a row |\n"}), [])

    def test_a_part_does_not_hide_in_another(self):
        planted = {"src/wal/log.h": header(300 * PLAIN), "tests/unit/wal/log_test.cc": 5 * HARD}
        found = messages(check_prose.check, planted)
        self.assertEqual({line.split(":")[0] for line in found}, {"tests/unit/wal/log_test.cc"})

    def test_a_directory_does_not_hide_in_its_parent(self):
        hard = "Whoever writes a row waits for it.\n\n"
        plain = "A writer waits for its row.\n\n"
        planted = {"docs/reference/cli.md": 300 * plain, "docs/guide/writing.md": 5 * hard, "docs/page.md": 300 * plain}
        found = messages(check_prose.check, planted)
        self.assertEqual({line.split(":")[0] for line in found}, {"docs/guide/writing.md"})

    def test_the_readme_is_a_part(self):
        planted = {"CHANGELOG.md": 300 * "A writer waits.\n\n", "README.md": 3 * "Whoever writes a row waits for it.\n\n"}
        found = messages(check_prose.check, planted)
        self.assertEqual({line.split(":")[0] for line in found}, {"README.md"})

    def test_public_headers_have_a_lower_limit(self):
        planted = {"include/stele/table.h": "// stele/table.h: rows.\n#pragma once\n" + 96 * PLAIN + 4 * HARD}
        self.assertEqual(len(messages(check_prose.check, planted)), 4)

    def test_a_comment_after_code_counts(self):
        found = messages(check_prose.check, {"src/wal/log.h": header(5 * "int d;  // what it is for whoever reads\n")})
        self.assertEqual(len(found), 5)


if __name__ == "__main__":
    unittest.main()
