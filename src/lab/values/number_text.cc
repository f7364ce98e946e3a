#include "lab/values/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace stele::internal::lab {

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string Counted(uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", WithCommas(number), noun, number == 1 ? "" : "s");
}

std::string Percent(double share) { return ShownNumber(std::round(share * 1000) / 10) + " %"; }

std::string ShownNumber(double number) {
  std::string text = fmt::format("{:.4f}", number);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace stele::internal::lab
