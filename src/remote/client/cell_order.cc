#include "remote/client/cell_order.h"

#include <algorithm>
#include <string_view>

namespace stele::internal {
namespace {

bool ComesBeforeInFamily(const CellView& a, const CellView& b) {
  if (a.qualifier() != b.qualifier()) return a.qualifier() < b.qualifier();
  return a.timestamp() > b.timestamp();
}

}  // namespace

void PutInOrder(std::vector<CellView>* cells) {
  std::vector<std::string_view> families;  // only a few
  const auto place_of = [&families](const CellView& cell) {
    return std::find(families.begin(), families.end(), cell.family());
  };
  bool in_order = true;
  for (size_t i = 0; i < cells->size(); ++i) {
    const CellView& cell = (*cells)[i];
    if (i > 0 && cell.family() == families.back()) {
      in_order = in_order && !ComesBeforeInFamily(cell, (*cells)[i - 1]);
      continue;
    }
    if (place_of(cell) == families.end()) {
      families.push_back(cell.family());
    } else {
      in_order = false;
    }
  }
  if (in_order) return;
  std::stable_sort(cells->begin(), cells->end(), [&](const CellView& a, const CellView& b) {
    return a.family() == b.family() ? ComesBeforeInFamily(a, b) : place_of(a) < place_of(b);
  });
}

}  // namespace stele::internal
