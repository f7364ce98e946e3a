#include "support/base_text_cases.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/base_test_data.h"

namespace stele::internal {
namespace {

struct Block {
  std::vector<std::string> comments;
  TextCase text_case;
  std::string expected;
  size_t line_number = 0;  // of the command line
  bool has_output = false;
};

TextCase ParseCommand(const std::string& line) {
  TextCase parsed{.command_line = line};
  std::istringstream words(line);
  words >> parsed.command;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    parsed.arguments[word.substr(0, equals)] = equals == word.npos ? "" : word.substr(equals + 1);
  }
  return parsed;
}

std::vector<Block> ParseBlocks(std::istream& in) {
  std::vector<Block> blocks;
  bool in_block = false;
  std::string line;
  for (size_t line_number = 1; std::getline(in, line); ++line_number) {
    if (line.empty()) {
      in_block = false;
      continue;
    }
    if (!in_block) blocks.emplace_back();
    in_block = true;
    Block& block = blocks.back();
    if (block.has_output) {
      block.expected += line + "\n";
    } else if (line == "----") {
      block.has_output = true;
    } else if (!block.text_case.command.empty()) {
      block.text_case.input.push_back(line);
    } else if (line.front() == '#') {
      block.comments.push_back(line);
    } else {
      block.text_case = ParseCommand(line);
      block.line_number = line_number;
    }
  }
  return blocks;
}

std::string Print(const Block& block) {
  std::string text;
  for (const std::string& comment : block.comments) text += comment + "\n";
  if (block.text_case.command.empty()) return text;
  return text + block.text_case.command_line + "\n" + block.text_case.input_text() + "----\n" +
         block.expected;
}

}  // namespace

std::string TextCase::value(std::string_view argument) const {
  const auto found = arguments.find(argument);
  return found == arguments.end() ? "" : found->second;
}

int64_t TextCase::number(std::string_view argument) const {
  const std::string text = value(argument);
  int64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  EXPECT_TRUE(error == std::errc() && end == text.data() + text.size())
      << command_line << ": " << argument << " is not a number";
  return parsed;
}

std::string TextCase::input_text() const {
  std::string text;
  for (const std::string& line : input) text += line + "\n";
  return text;
}

void RunTextCases(std::string_view path, const std::function<std::string(const TextCase&)>& run) {
  const std::string file = TestDataPath("data/" + std::string(path));
  std::ifstream in(file);
  ASSERT_TRUE(in.is_open()) << file;
  std::vector<Block> blocks = ParseBlocks(in);
  ASSERT_FALSE(blocks.empty()) << file;
  const bool rewrite = std::getenv("STELE_REWRITE") != nullptr;
  std::string rewritten;
  for (Block& block : blocks) {
    if (!block.text_case.command.empty()) {
      ASSERT_TRUE(block.has_output || rewrite) << file << ":" << block.line_number << ": no ----";
      const std::string output = run(block.text_case);
      if (!rewrite) {
        EXPECT_EQ(output, block.expected)
            << file << ":" << block.line_number << ": " << block.text_case.command_line;
      }
      block.expected = output;
    }
    rewritten += (rewritten.empty() ? "" : "\n") + Print(block);
  }
  if (rewrite) std::ofstream(file) << rewritten;
}

}  // namespace stele::internal
