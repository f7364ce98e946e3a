#include "lab/values/near_name.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace stele::internal::lab {
namespace {

constexpr size_t kComparedBytesMax = 64;

bool IsSame(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : +c; };
  return lower(a) == lower(b);
}

// The optimal string alignment distance, without the case of ASCII letters.
size_t DistanceOf(std::string_view a, std::string_view b) {
  using Row = std::array<size_t, kComparedBytesMax + 1>;
  Row before_last = {};
  Row last = {};
  Row row = {};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (IsSame(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swapped =
          i > 1 && j > 1 && IsSame(a[i - 1], b[j - 2]) && IsSame(a[i - 2], b[j - 1]);
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

size_t DistanceMax(std::string_view name) { return name.size() < 3 ? 0 : name.size() < 5 ? 1 : 2; }

}  // namespace

std::string NearName(std::string_view name, const std::vector<std::string>& names) {
  std::string nearest;
  size_t least = DistanceMax(name) + 1;
  for (const std::string& each : names) {
    if (each == name) return "";
    if (std::max(each.size(), name.size()) > kComparedBytesMax) continue;
    const size_t distance = DistanceOf(name, each);
    if (distance >= least) continue;
    least = distance;
    nearest = each;
  }
  return nearest;
}

}  // namespace stele::internal::lab
