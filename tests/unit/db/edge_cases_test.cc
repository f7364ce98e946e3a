// Tests the edge cases of Bigtable's data model through the public API:
// tests/data/db/edge_cases.txt. The numbers are rows of docs/reference/semantics.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/status.h"
#include "support/base_test_data.h"
#include "support/base_text_cases.h"
#include "support/db_script.h"

namespace stele::internal {
namespace {

constexpr const char* kFile = "db/edge_cases.txt";

std::string RunCase(const TextCase& text_case) {
  DatabaseScript script;
  std::string output;
  for (const std::string& line : text_case.input) output += script.Run(line);
  return output;
}

TEST(EdgeCasesTest, OneByOne) { RunTextCases(kFile, RunCase); }

// Returns the numbers after "row" in the first lines of cases, and after "# elsewhere" and "#
// wire".
std::set<int> NumbersIn(const std::string& file) {
  std::set<int> numbers;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("row ") && !line.starts_with("# elsewhere ") &&
        !line.starts_with("# wire "))
      continue;
    std::istringstream words(line.substr(0, line.find(':')));
    for (std::string word; words >> word;) {
      if (word.find_first_not_of("0123456789") == std::string::npos)
        numbers.insert(std::stoi(word));
    }
  }
  return numbers;
}

// Numbers between 1 and 146 that the table in docs/reference/semantics.md does not use.
const std::set<int>& NumbersWithoutACase() {
  static const std::set<int>* const numbers = new std::set<int>{
      4,  8,  12, 16, 20, 24, 28,  32,  36,  40,  44,  48,  52,  56,  60,  64,  68,  72,
      76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124, 128, 132, 136, 140, 144};
  return *numbers;
}

TEST(EdgeCasesTest, AllAreAccountedFor) {
  const std::set<int> numbers = NumbersIn(TestDataPath(std::string("data/") + kFile));
  for (int number = 1; number <= 146; ++number) {
    EXPECT_NE(numbers.contains(number), NumbersWithoutACase().contains(number)) << "row " << number;
  }
}

}  // namespace
}  // namespace stele::internal
