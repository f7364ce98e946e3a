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

std::string RoundedNumber(double number) {
  const double size = std::abs(number);
  if (size >= 100 && size < 1e18)
    return (number < 0 ? "-" : "") + WithCommas(static_cast<uint64_t>(std::round(size)));
  const double scale = size >= 10 ? 10 : size >= 1 ? 100 : 1000;
  return ShownNumber(std::round(number * scale) / scale);
}

}  // namespace stele::internal::lab
