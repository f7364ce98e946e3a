#!/usr/bin/env python3
"""tools/checks/check_unity.py finds each name that a unity build refuses, and nothing else."""
import unittest

from planted_tree import messages

from check_unity import check


def unnamed(text):
    return f"#include \"wal/log.h\"\nnamespace stele::internal {{\nnamespace {{\n{text}\n}}  // namespace\n}}  // namespace stele::internal\n"


class CheckUnity(unittest.TestCase):
    def found(self, first, second, folder="src/wal", other="src/wal"):
        return messages(check, {f"{folder}/a.cc": unnamed(first), f"{other}/b.cc": unnamed(second)})

    def test_a_name_in_two_files_of_a_directory_is_found(self):
        for one, two in (("constexpr int kRows = 3;", "const size_t kRows{4};"), ("int Rows(int a) {\n  return a;\n}", "int Rows(int b) { return 1; }"),
                         ("class Reader {\n  int a;\n};", "struct Reader {};"), ("using Rows = std::vector<int>;", "using Rows = std::string;"),
                         ("template <typename T>\nT Sum(const T& a) { return a; }", "template <typename T>\nT Sum(const T& b) { return b; }"),
                         ("constexpr std::string_view kNames[] = {\"a\"};", "enum class kNames { kA };"),
                         ("TEST(LogTest, Opens) {}", "TEST(LogTest, Opens) { int a; }"), ("int Rows() { return 1; }", "constexpr int Rows = 1;")):
            found = self.found(one, two)
            self.assertEqual(len(found), 1, (one, two))
            self.assertRegex(found[0], "^src/wal/b.cc:[45]: '[A-Za-z.]+' is also defined in src/wal/a.cc:")

    def test_what_a_unity_build_accepts_is_fine(self):
        for one, two in (("int Rows(int a) { return a; }", "int Rows(const std::string& a) { return 1; }"), ("using Rows = std::string;",) * 2,
                         ("class Reader;", "class Reader;"), ("constexpr int kA = 1;", "void F() { constexpr int kA = 1; }"),
                         ("struct A { int kRows = 1; };", "struct B { int kRows = 1; };"), ("using std::chrono::seconds;",) * 2,
                         ("// int Rows() { return 1; }", "int Rows() { return 1; }")):
            self.assertEqual(self.found(one, two), [], (one, two))

    def test_other_programs_and_namespaces_do_not_matter(self):
        self.assertEqual(self.found("constexpr int kA = 1;", "constexpr int kA = 1;", other="src/jobs"), [])
        self.assertEqual(self.found("constexpr int kA = 1;", "constexpr int kA = 1;", "bench/micro", "bench/micro"), [])
        outside = messages(check, {"src/wal/a.cc": "int Rows() { return 1; }\n", "src/wal/b.cc": unnamed("int Rows() { return 1; }")})
        self.assertEqual(outside, [])

    def test_the_directories_of_a_program_or_layer_are_one(self):
        for one, two in (("tests/steled/rpc", "tests/steled/state"), ("tools/stele/logical", "tools/stele"), ("src/lab/yaml", "src/lab/trace")):
            self.assertEqual(len(self.found("constexpr int kA = 1;", "constexpr int kA = 2;", one, two)), 1, (one, two))

    def test_a_function_that_hides_one_of_a_header_is_found(self):
        header = "namespace stele::internal {\nint Rows(int a);\nclass Reader {\n  int Size();\n};\n}  // namespace stele::internal\n"
        found = messages(check, {"src/wal/a.h": header, "src/wal/b.cc": unnamed("int Rows(char a) { return 1; }")})
        self.assertEqual(len(found), 1)
        self.assertRegex(found[0], "^src/wal/b.cc:4: 'Rows' hides the function of src/wal/a.h:2 ")
        for text in ("int Size() { return 1; }", "int Columns(int a) { return 1; }", "constexpr int kRows = 1;", "class Size {};"):
            self.assertEqual(messages(check, {"src/wal/a.h": header, "src/wal/b.cc": unnamed(text)}), [], text)
        self.assertEqual(messages(check, {"src/jobs/a.h": header, "src/wal/b.cc": unnamed("int Rows(char a) { return 1; }")}), [])
        nested = header.replace("namespace stele::internal {", "namespace stele::inline internal {")
        self.assertEqual(len(messages(check, {"src/wal/a.h": nested, "src/wal/b.cc": unnamed("int Rows(char a) { return 1; }")})), 1)

    def test_a_type_or_variable_with_a_name_of_a_header_is_found(self):
        header = "namespace stele::internal {\ninline constexpr int kRows = 1;\nstruct Place {\n  int kCells = 1;\n};\n}  // namespace stele::internal\n"
        for name, text, line in (("kRows", "constexpr int kRows = 2;", 2), ("Place", "struct Place {};", 3)):
            found = messages(check, {"src/wal/a.h": header, "src/jobs/b.cc": unnamed(text)})
            self.assertEqual(len(found), 1, text)
            self.assertRegex(found[0], f"^src/jobs/b.cc:4: '{name}' is also the name of src/wal/a.h:{line}: ")
            self.assertEqual(messages(check, {"src/lab/yaml/a.h": header, "src/jobs/b.cc": unnamed(text)}), [], text)
        header += "namespace stele::internal {\nusing Json = std::string;\n}\n"
        for text in ("using Json = std::string;", "constexpr int kCells = 2;", "int F() { constexpr int kRows = 2; return kRows; }"):
            self.assertEqual(messages(check, {"src/wal/a.h": header, "src/wal/b.cc": unnamed(text)}), [], text)


if __name__ == "__main__":
    unittest.main()
