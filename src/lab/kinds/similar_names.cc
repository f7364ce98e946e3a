#include "lab/kinds/similar_names.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace stele::internal::lab {
namespace {

// Splits a name at _ - and '.', with # for each run of digits.
std::vector<std::string> NameTokens(std::string_view name) {
  std::vector<std::string> tokens(1);
  bool in_digits = false;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (c == '_' || c == '-' || c == '.') {
      tokens.emplace_back();
    } else if (!is_digit) {
      tokens.back() += c;
    } else if (!in_digits) {
      tokens.back() += '#';
    }
    in_digits = is_digit;
  }
  return tokens;
}

}  // namespace

std::vector<std::set<std::string>> SimilarTables(const std::vector<NamedTable>& tables) {
  using Pattern = std::tuple<std::vector<std::string>, std::vector<std::string>>;
  std::map<Pattern, std::set<std::string>> groups;
  for (const NamedTable& table : tables) {
    std::vector<std::string> tokens = NameTokens(table.name);
    groups[{table.families, tokens}].insert(table.name);
    for (size_t i = 0; i < tokens.size() && tokens.size() > 1; ++i) {
      std::vector<std::string> pattern = tokens;
      pattern[i] = "*";  // no name has this character
      groups[{table.families, pattern}].insert(table.name);
    }
  }
  std::vector<std::set<std::string>> similar;
  for (auto& [pattern, names] : groups) similar.push_back(std::move(names));
  std::stable_sort(similar.begin(), similar.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return similar;
}

}  // namespace stele::internal::lab
