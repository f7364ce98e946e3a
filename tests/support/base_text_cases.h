// tests/support/base_text_cases.h: tests that are driven by a text file of cases.
//
// Format:    blocks with an empty line between them:
//              # any number of comment lines
//              command arguments
//              input lines
//              ----
//              expected output lines
// Use:       RunTextCases(file, function) calls the function for each block and expects the block's output from it. With STELE_REWRITE=1 in
//            the environment it writes the outputs it got into the file instead: read the difference before you commit it.
// Errors:    a block without ---- or a file that cannot be read fails the test.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

struct TextCase {
  std::string command;
  std::map<std::string, std::string, std::less<>> arguments;  // "name=value"; "name" alone has the value ""
  std::string command_line;                                   // all of it
  std::vector<std::string> input;

  bool has(std::string_view argument) const { return arguments.find(argument) != arguments.end(); }
  // The argument's value, or "" without it.
  std::string value(std::string_view argument) const;
  int64_t number(std::string_view argument) const;
  std::string input_text() const;  // the lines, each with its line end
};

// `path` is relative to tests/data/. Outputs are lines, each with its line end, none empty.
void RunTextCases(std::string_view path, const std::function<std::string(const TextCase&)>& run);

}  // namespace stele::internal
