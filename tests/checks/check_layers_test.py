#!/usr/bin/env python3
"""check_layers fails on each include it is there to refuse, and on nothing else."""
import unittest

from planted_tree import messages

import check_layers


class CheckLayers(unittest.TestCase):
    def found(self, planted):
        return messages(check_layers.check, planted)

    def one(self, planted, text):
        found = self.found(planted)
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])

    def test_the_clean_tree_is_clean(self):
        self.assertEqual(self.found({}), [])

    def test_an_include_upwards_is_found_with_its_line(self):
        self.one({"src/base/bytes.h": '// base/bytes.h: b.\n#include "wal/log.h"\n'}, "src/base/bytes.h:2: 'base' may not include 'wal'")

    def test_an_unlisted_room_is_found(self):
        self.one({"src/cellar/a.cc": "\n"}, "room 'cellar' is missing")

    def test_a_file_outside_any_room_is_found(self):
        self.one({"src/a.cc": "\n"}, "room '' is missing")

    def test_an_include_without_its_room_is_found(self):
        self.one({"src/wal/log.cc": '#include "log.h"\n'}, 'included as "wal/log.h"')

    def test_an_include_of_tests_is_found(self):
        self.one({"src/wal/log.cc": '#include "tests/support/a.h"\n'}, "rooms include")

    def test_base_may_not_include_public_headers(self):
        self.one({"src/base/bytes.h": "#include <stele/stele.h>\n"}, "base is below the public headers")

    def test_rooms_above_base_may_include_public_headers(self):
        self.assertEqual(self.found({"src/wal/log.cc": "#include <stele/stele.h>\n"}), [])

    def test_a_public_header_may_not_include_a_room(self):
        self.assertIn("may not include 'wal/log.h'", "".join(self.found({"include/stele/a.h": '#include "wal/log.h"\n'})))

    def test_a_public_header_may_not_name_a_room_in_a_comment(self):
        self.one({"include/stele/a.h": "// see src/wal/log.h\n"}, "may not name 'src/'")

    def test_a_public_header_takes_only_status_from_abseil(self):
        self.one({"include/stele/a.h": '#include "absl/strings/string_view.h"\n'}, "of Abseil")

    def test_a_public_header_takes_nothing_from_other_libraries(self):
        self.one({"include/stele/a.h": "#include <fmt/format.h>\n"}, "not 'fmt/format.h'")

    def test_a_room_listed_above_one_it_needs_is_refused(self):
        with self.assertRaises(SystemExit):
            self.found({"docs/layers.txt": "wal: base\nbase:\n"})


if __name__ == "__main__":
    unittest.main()
