// bench/growth/curves.h: the list of curves. Each varies one property of a layout and keeps the
// others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "layout.h"
#include "operations.h"

namespace stele_growth {

struct Point {
  uint64_t value = 0;  // of the property that varies
  Layout layout;
};

struct Curve {
  std::string_view name;
  std::string_view varies;  // the property, as text
  std::vector<Operation> operations;
  std::vector<Point> points;  // ascending
};

// `is_small`: each curve has two points of little data, for tests.
std::vector<Curve> Curves(bool is_small);

}  // namespace stele_growth
