// facts/number_order.h: finds decimal numbers whose order as text is not their order as numbers.
//
// Threads:   confined to one thread.
// Memory:    at most 2 MiB: a few values for each number of digits and of leading zeros.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stele::internal::lab {

class NumberOrder {
 public:
  static constexpr size_t kDigitsMax = 40;

  // Adds a number of at most kDigitsMax digits. The order of calls does not matter.
  void Add(std::string_view digits);

  // Two numbers. The first one is larger, but sorts before the second one as text.
  struct Inversion {
    std::string first;
    std::string second;
  };
  std::optional<Inversion> Find() const;
  // The number of digits of the shortest and the longest number. 0 if there is none.
  size_t digits_min() const;
  size_t digits_max() const;

 private:
  // The numbers with one count of significant digits and one of leading zeros. All of them are
  // equally long, so their order as text is their order as numbers.
  struct Group {
    std::string smallest;
    std::string largest;
    // The smallest number with each first significant digit.
    std::array<std::string, 10> smallest_by_digit;
  };
  using Shape = std::pair<size_t, size_t>;  // significant digits, leading zeros

  static std::optional<Inversion> FindBetween(const Shape& shape, const Group& group,
                                              const Shape& other_shape, const Group& other);

  std::map<Shape, Group> groups_;
};

}  // namespace stele::internal::lab
