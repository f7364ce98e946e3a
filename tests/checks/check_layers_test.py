#!/usr/bin/env python3
"""check_layers fails on each include that it must reject, and on nothing else."""
import unittest

from planted_tree import messages

import check_layers
import unit_graph


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
        self.one({"src/base/more.h": '// base/more.h: m.\n#include "wal/log.h"\n'}, "src/base/more.h:2: 'base' must not include 'wal'")

    def test_an_unlisted_layer_is_found(self):
        self.one({"src/cellar/a.cc": "\n"}, "layer 'cellar' is missing")

    def test_a_file_outside_any_layer_is_found(self):
        self.one({"src/a.cc": "\n"}, "layer '' is missing")

    def test_a_directory_inside_another_is_a_layer(self):
        layers = {"docs/layers.txt": "base:\nwal: base\nsst/format:\nsst/read: sst/format\ndb: sst/read\n"}

        def found(path, line):
            return [finding for finding in self.found({**layers, path: line + "\n"}) if "delete the permission" not in finding]

        self.assertEqual(found("src/sst/read/a.cc", '#include "sst/format/a.h"'), [])
        self.assertEqual(found("src/db/a.cc", '#include "sst/read/a.h"'), [])
        for path, line, text in (
            ("src/sst/format/a.cc", '#include "sst/read/a.h"', "'sst/format' must not include 'sst/read'"),
            ("src/db/a.cc", '#include "sst/format/a.h"', "'db' must not include 'sst/format'"),
            ("src/db/a.cc", '#include "sst/a.h"', "'sst/a.h' is in no directory of docs/layers.txt"),
            ("src/sst/a.cc", "", "layer 'sst' is missing"),
            ("include/stele/a.h", "// see sst/read/a.h", "must not name 'sst/read/a.h'"),
            ("include/stele/a.h", '#include "sst/read/a.h"', "must not include 'sst/read/a.h'"),
        ):
            self.assertIn(text, "".join(found(path, line)), path)

    def test_the_directories_of_the_server_are_checked(self):
        layers = {"docs/layers.txt": "base:\nwal: base\nsteled/rpc: base\nsteled: base steled/rpc\n",
                  "tools/steled/main.cc": '#include "base/bytes.h"\n#include "steled/rpc/a.h"\n',
                  "tools/steled/rpc/a.h": '#include "base/bytes.h"\n'}
        self.assertEqual(self.found(layers), [])
        for path, line, text in (
            ("tools/steled/rpc/b.cc", '#include "steled/flags.h"', "tools/steled/rpc/b.cc:1: 'steled/rpc' must not include 'steled'"),
            ("tools/steled/rpc/b.cc", '#include "wal/log.h"', "'steled/rpc' must not include 'wal'"),
            ("tools/steled/rpc/b.cc", '#include "a.h"', 'included as "steled/rpc/a.h"'),
            ("tools/steled/state/b.cc", "", "layer 'steled/state' is missing from docs/layers.txt"),
            ("src/wal/b.cc", '#include "steled/rpc/a.h"', "'wal' must not include 'steled/rpc'"),
            ("tools/steled/main.cc", '#include "base/bytes.h"', "docs/layers.txt:4: 'steled' includes nothing of 'steled/rpc'"),
            ("include/stele/a.h", "// see steled/rpc/a.h", "must not name 'steled/rpc/a.h'"),
        ):
            self.one({**layers, path: line + "\n"}, text)

    def test_units_of_the_server_are_checked(self):
        layers = {"docs/layers.txt": "base:\nwal: base\nsteled/rpc:\n"}
        cycle = {"tools/steled/rpc/a.h": '#include "steled/rpc/b.h"\n', "tools/steled/rpc/b.h": '#include "steled/rpc/a.h"\n'}
        self.one({**layers, **cycle}, "tools/steled/rpc/a.h:1: these units include each other in a cycle: steled/rpc/a, steled/rpc/b")
        self.one({**layers, **{f"tools/steled/rpc/unit{number}.h": "" for number in range(unit_graph.UNITS_MAX + 1)}},
                 "tools/steled/rpc:1: 13 units, at most 12 are allowed")

    def test_an_include_without_its_layer_is_found(self):
        self.one({"src/wal/log.cc": '#include "log.h"\n'}, 'included as "wal/log.h"')

    def test_an_include_of_tests_is_found(self):
        self.one({"src/wal/log.cc": '#include "tests/support/a.h"\n'}, "layers include")

    def test_base_may_not_include_public_headers(self):
        self.one({"src/base/bytes.h": "#include <stele/stele.h>\n"}, "base is below the public headers")

    def test_layers_above_base_may_include_public_headers(self):
        self.assertEqual(self.found({"src/wal/log.cc": "#include <stele/stele.h>\n"}), [])

    def test_a_public_header_may_not_include_a_layer(self):
        self.assertIn("must not include 'wal/log.h'", "".join(self.found({"include/stele/a.h": '#include "wal/log.h"\n'})))

    def test_a_public_header_may_not_name_a_layer_in_a_comment(self):
        self.one({"include/stele/a.h": "// see src/wal/log.h\n"}, "must not name 'src/'")

    def test_a_public_header_takes_only_status_from_abseil(self):
        self.one({"include/stele/a.h": '#include "absl/strings/string_view.h"\n'}, "from Abseil")

    def test_a_public_header_takes_nothing_from_other_libraries(self):
        self.one({"include/stele/a.h": "#include <fmt/format.h>\n"}, "not 'fmt/format.h'")

    def test_a_permission_that_nothing_uses_is_found(self):
        self.one({"src/wal/log.h": "// wal/log.h: the log.\n"}, "docs/layers.txt:2: 'wal' includes nothing of 'base'")

    def test_a_cycle_of_units_is_found_with_all_its_units(self):
        planted = {"src/wal/a.h": '#include "wal/b.h"\n', "src/wal/b.cc": '#include "wal/c.h"\n', "src/wal/b.h": "", "src/wal/c.cc": '#include "wal/a.h"\n', "src/wal/c.h": ""}
        self.one(planted, "src/wal/a.h:1: these units include each other in a cycle: wal/a, wal/b, wal/c")

    def test_an_inline_header_is_a_part_of_its_unit(self):
        planted = {"src/wal/a.h": '#include "wal/a_inline.h"\n', "src/wal/a_inline.h": '#include "wal/a.h"\n'}
        self.assertEqual(self.found(planted), [])

    def test_an_exception_for_a_cycle_that_is_gone_is_found(self):
        self.one({"tools/checks/unit_graph.txt": "wal/a wal/b\n"}, "the cycle of wal/a, wal/b is gone")

    def test_an_exception_for_a_cycle_is_kept(self):
        planted = {"src/wal/a.h": '#include "wal/b.h"\n', "src/wal/b.h": '#include "wal/a.h"\n', "tools/checks/unit_graph.txt": "# Known.\nwal/a wal/b\n"}
        self.assertEqual(self.found(planted), [])

    def test_a_directory_with_many_units_is_found(self):
        planted = {f"src/wal/unit{number}.h": "" for number in range(unit_graph.UNITS_MAX)}
        self.one(planted, "src/wal:1: 13 units, at most 12 are allowed")

    def test_an_exception_that_allows_too_many_units_is_found(self):
        self.one({"tools/checks/unit_graph.txt": "wal 2\n"}, "wal has 1 units, not 2")

    def test_a_layer_listed_above_one_it_needs_is_refused(self):
        with self.assertRaises(SystemExit):
            self.found({"docs/layers.txt": "wal: base\nbase:\n"})


if __name__ == "__main__":
    unittest.main()
