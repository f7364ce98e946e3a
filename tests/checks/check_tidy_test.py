#!/usr/bin/env python3
"""check_tidy fails on each violation that it must reject, and accepts similar text that is allowed."""
import unittest

from planted_tree import messages

import check_tidy
from function_lengths import functions


def function_of(lines, head="void Long() {"):
    """Returns a function with exactly this many lines."""
    return head + "\n" + "  Step();\n" * (lines - 2) + "}\n"


INCLUDES_BYTES = '#include "base/bytes.h"\n'

# file, its text, the expected finding
VIOLATIONS = [
    ("src/wal/log.cc", function_of(71), "log.cc:1: Long has 71 lines"),
    ("src/wal/log.cc", "namespace a {\nclass B {\n public:\n" + function_of(71) + "};\n}\n", "log.cc:4: Long has 71 lines"),
    ("src/wal/log.cc", function_of(71, "B::B(int a) : a_{a}, b_(1) {"), "has 71 lines"),
    ("src/wal/log.cc", function_of(71, "void Long(Options options = {}) {"), "has 71 lines"),
    ("tests/unit/wal/log_test.cc", function_of(71, "TEST(Log, IsLong) {"), "has 71 lines"),
    ("src/wal/log.cc", "int a;\n" * 601, "601 lines, at most 600"),
    ("tests/unit/wal/log_test.cc", "int a;\n" * 901, "901 lines, at most 900"),
    ("src/wal/log.cc", "// " + "a" * 100 + "\n", "103 characters"),
    ("src/wal/log.h", INCLUDES_BYTES + "#pragma once\n", "a header must begin with"),
    ("src/wal/log.h", "// wal/segment.h: another.\n#pragma once\n" + INCLUDES_BYTES, "a header must begin with"),
    ("src/wal/log.h", "// wal/log.h: no guard.\n" + INCLUDES_BYTES, "#pragma once"),
    ("src/wal/log.h", "// wal/log.h: joined.\n//\n// Errors:    none. Threads:   confined.\n#pragma once\n" + INCLUDES_BYTES, "log.h:3: a label must be"),
    ("src/wal/log.h", "// wal/log.h: spilled.\n//\n// Errors:    none\n// at all.\n#pragma once\n" + INCLUDES_BYTES, "log.h:4: the lines after a label"),
    ("src/wal/log.h", "// wal/log.h: spilled.\n//\n// Used by:   none\n// at all.\n#pragma once\n" + INCLUDES_BYTES, "log.h:4: the lines after a label"),
    ("src/wal/log.h", "// wal/log.h: old.\n//\n// Path:      commit -> here.\n#pragma once\n" + INCLUDES_BYTES, "log.h:3: use the labels 'Used by:' and 'Calls:' instead of 'Path:'"),
    ("src/wal/log.h", "// wal/log.h: old.\n//\n// Calls:     here ->\n//            base/bytes.h.\n#pragma once\n" + INCLUDES_BYTES, "log.h:3: write a sentence"),
    ("src/wal/log.h", "// wal/log.h: gone.\n//\n// Used by:   wal/gone.cc.\n#pragma once\n" + INCLUDES_BYTES, "log.h:3: 'wal/gone.cc' does not exist"),
    ("src/wal/log.h", "// wal/log.h: gone.\n//\n// Calls:     bytes (base/gone.h).\n#pragma once\n" + INCLUDES_BYTES, "log.h:3: 'base/gone.h' does not exist"),
    ("src/wal/log.h", "// wal/log.h: turned.\n//\n// Used by:   base/bytes.h.\n#pragma once\n" + INCLUDES_BYTES, "log.h:3: src/base/bytes does not include src/wal/log.h"),
    ("src/base/bytes.h", "// base/bytes.h: turned.\n//\n// Calls:     the next,\n//            wal/log.h.\n#pragma once\n", "bytes.h:3: src/base/bytes does not include src/wal/log.h"),
    ("src/wal/log.cc", "class LogManager {};\n", "'LogManager' is not a good name"),
    ("src/wal/log.cc", "struct ByteUtils;\n", "'ByteUtils' is not a good name"),
    ("src/wal/log.cc", "class DatabaseImpl : public Base {};\n", "'DatabaseImpl' is not a good name"),
    ("src/wal/log.cc", "void DoFlush();\n", "'DoFlush' is not a good name"),
    ("src/wal/log.cc", "void MaybeFlush();\n", "'MaybeFlush' is not a good name"),
    ("src/wal/log_util.cc", "\n", "'log_util.cc' does not describe"),
    ("src/wal/log.cc", "class A { friend class B; };\n", "only an operator may be a friend"),
    ("src/wal/log.cc", "class A { friend struct internal::Access; };\n", "only an operator may be a friend"),
    ("include/stele/log.h", "// stele/log.h: a log.\n#pragma once\nclass A { friend class B; };\n", "only an operator and internal::Access"),
    ("src/wal/log.cc", "void A() { throw 1; }\n", "do not throw"),
    ("src/wal/log.cc", "void A() { try { B(); } catch (...) {} }\n", "do not catch"),
    ("src/wal/log.cc", "void A() { std::abort(); }\n", "must not end the process"),
    ("src/wal/log.cc", "void A() { assert(true); }\n", "STELE_INVARIANT"),
    ("src/wal/log.cc", "std::thread t;\n", "only src/jobs may create threads"),
    ("src/wal/log.cc", "absl::Mutex m;\n", "one lock"),
    ("src/wal/log.cc", "std::mutex m;\n", "one lock"),
    ("src/wal/log.cc", "void TEST_Open();\n", "no function only for tests"),
    ("tests/unit/wal/log_test.cc", "void A() { std::this_thread::sleep_for(1s); }\n", "a sleep is not synchronization"),
    ("src/wal/log.cc", "// TO" + "DO: later\n", "finish it"),
    ("tools/setup.sh", "# FIX" + "ME\n", "finish it"),
    ("src/wal/log.cc", "int a; \n", "trailing whitespace"),
    ("src/wal/log.cc", "\tint a;\n", "tab"),
    ("src/wal/log.cc", "int a;", "no newline"),
    ("src/wal/unused.h", "// wal/unused.h: nobody's.\n#pragma once\n", "no file includes this header"),
    ("src/wal/deeper/lost.cc", "\n", "no CMake file builds this file"),
    ("tests/unit/lost/lost_test.cc", "\n", "no CMake file builds this file"),
    ("tools/stele/lost.cc", "\n", "no CMake file builds this file"),
    ("README.md", "See `src/wal/gone.h`.\n", "'src/wal/gone.h' does not exist"),
    ("docs/format/wal.md", "See tests/unit/gone/*.cc.\n", "'tests/unit/gone/*.cc' does not exist"),
    ("docs/a.md", "[b](b.md)\n", "the link to 'b.md' is broken"),
    ("docs/a.md", "```cpp\n```\n[b](b.md)\n", "the link to 'b.md' is broken"),
    ("docs/testing.md", "Rule 1: `LogTest.IsGone`.\n", "there is no test LogTest.IsGone"),
    ("docs/internals/invariants.md", "`LogTest.IsGone`\n", "there is no test LogTest.IsGone"),
    ("docs/reference/statistics.md", "| field | meaning |\n|---|---|\n| `rows`, `gone` | rows |\n", "has no field 'gone'"),
    ("src/wal/log.cc", "class Log {\n  Mutex opening_;\n};\n", "docs/internals/locking.md does not list this mutex"),
    ("docs/internals/log.md", "`Bytes::Read` (`src/wal/log.h`)\n", "src/wal/log.h has no 'Bytes::Read'"),
    ("docs/internals/log.md", "x\n`Gone` in\n`src/wal/log.cc`\n", "docs/internals/log.md:2: src/wal/log.cc has no 'Gone'"),
    ("docs/reference/statistics.md", "`rows`\n", "has the field 'rows', and no table of fields lists it"),
]

# text that is similar to a violation and is allowed
INNOCENT = [
    ("src/wal/log.h", "// wal/log.h: a log.\n//\n// Used by:   wal/log.cc.\n// Calls:     base/bytes.h.\n#pragma once\n" + INCLUDES_BYTES),
    ("src/wal/log.h", "// wal/log.h: a log.\n//\n// Used by:   those who write (base/bytes.h).\n#pragma once\n" + INCLUDES_BYTES),
    ("src/base/bytes.h", "// base/bytes.h: bytes.\n//\n// Used by:   unit/wal/log_test.cc.\n#pragma once\n"),
    ("src/wal/log.cc", "class Log {\n  mutable Mutex mutex_;\n};\n"),
    ("src/base/bytes.h", "// base/bytes.h: bytes.\n#pragma once\nclass Any {\n  Mutex mutex_;\n};\n"),
    ("docs/internals/log.md", "`Log` in `src/wal`, and `Bytes`; the header is `src/base/bytes.h`\n"),
    ("src/wal/log.cc", function_of(70)),
    ("src/wal/log.cc", "struct Table {\n" + "  int a;\n" * 80 + "};\n"),
    ("src/wal/log.cc", "constexpr int kTable[] = {\n" + "    1,\n" * 80 + "};\n"),
    ("src/wal/log.cc", 'const char* a = "friend throw abort() std::thread";  // friend, throw\n'),
    ("src/wal/log.cc", 'const char* a = R"(\n}}}} friend\n)";\n'),
    ("src/wal/log.cc", "constexpr int64_t kLimit = 1'000'000;\nstruct A {};\n"),
    ("src/wal/log.cc", "struct A { friend bool operator==(const A&, const A&) = default; };\n"),
    ("include/stele/log.h", "// stele/log.h: a log.\n#pragma once\nclass A { friend struct internal::Access; };\n"),
    ("src/wal/log.cc", "void Double(int a); void A() { Abort(); loader.Abort(); }\n"),
    ("src/wal/log.cc", "[[maybe_unused]] int utilisation; class Utilization {};\n"),
    ("tests/unit/wal/log_test.cc", "std::thread t;\n"),
    ("src/jobs/a.cc", "std::thread t;\n"),
    ("src/commit/a.cc", "std::thread::id t;\n"),
    ("docs/a.md", "```cpp\ntable.Visit([](const Row& row) {});\n```\n"),
    ("README.md", "Built into build/release/bin; `tests/unit/<layer>/`, `src/wal/*.cc`, https://a.example/docs/gone.\n"),
]


class CheckTidy(unittest.TestCase):
    def test_the_clean_tree_is_clean(self):
        self.assertEqual(messages(check_tidy.check, {}), [])

    def test_every_violation_is_found_once_and_alone(self):
        for name, text, said in VIOLATIONS:
            with self.subTest(said=said, text=text[:60]):
                found = messages(check_tidy.check, {name: text})
                self.assertEqual(len(found), 1, found)
                self.assertIn(said, found[0])

    def test_look_alikes_are_left_alone(self):
        for name, text in INNOCENT:
            with self.subTest(text=text[:60]):
                self.assertEqual(messages(check_tidy.check, {name: text}), [])

    def test_functions_are_found_wherever_they_stand(self):
        code = "namespace n {\nint A(int a = {}) { return a; }\nclass C : public B<int> {\n  C() : a_{1}, b_{2} { A(); }\n  int D() const;\n};\n}\n"
        self.assertEqual([name for _, _, name in functions(code)], ["A", "C"])


if __name__ == "__main__":
    unittest.main()
