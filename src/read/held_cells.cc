#include "read/held_cells.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace stele::internal {

absl::StatusOr<Buffer> HoldCells(std::vector<Cell>* cells) {
  size_t bytes = 0;
  for (const Cell& cell : *cells) bytes += CellBytes(cell);
  STELE_ASSIGN_OR_RETURN(Buffer held, Buffer::Allocate(bytes));
  char* out = held.data();
  const auto copy = [&out](std::string_view* part) {
    if (part->empty()) return;
    std::memcpy(out, part->data(), part->size());
    *part = std::string_view(out, part->size());
    out += part->size();
  };
  for (Cell& cell : *cells) {
    copy(&cell.qualifier);
    copy(&cell.value);
  }
  return held;
}

}  // namespace stele::internal
