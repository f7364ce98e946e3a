// tests/support/base_text_cases.h: runs tests whose cases are in a text file.
//
// Format:    Blocks, separated by an empty line:
//              # any number of comment lines
//              command arguments
//              input lines
//              ----
//              expected output lines
// Use:       RunTextCases(file, function) calls the function for each block and compares its output
//            with the expected output. If STELE_REWRITE=1 is in the environment, it writes the
//            actual outputs into the file instead. Review the difference before you commit it.
// Errors:    A block without ---- fails the test. So does a file that cannot be read.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

struct TextCase {
  std::string command;
  // "name=value"; a bare "name" has the value ""
  std::map<std::string, std::string, std::less<>> arguments;
  std::string command_line;  // the whole line
  std::vector<std::string> input;

  bool has(std::string_view argument) const { return arguments.find(argument) != arguments.end(); }
  // Returns the argument's value, or "" if the argument is absent.
  std::string value(std::string_view argument) const;
  int64_t number(std::string_view argument) const;
  std::string input_text() const;  // all lines, each with its newline
};

// `path` is relative to tests/data/. `run` returns lines that each end with a newline. No line may
// be empty.
void RunTextCases(std::string_view path, const std::function<std::string(const TextCase&)>& run);

}  // namespace stele::internal
