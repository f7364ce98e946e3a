#include "cell/held_cells.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// True for the same bytes at the same address, as in the copies that an interleave makes of a cell.
bool IsSame(std::string_view a, std::string_view b) {
  return a.data() == b.data() && a.size() == b.size();
}

// Returns the bytes of the value in memory; empty if the value is still in its file.
std::string_view ValueOf(const Cell& cell) {
  return cell.is_lazy ? std::string_view() : cell.value;
}

}  // namespace

absl::StatusOr<Buffer> CopyOut(std::span<Cell> cells) {
  size_t bytes = 0;
  std::string_view before;
  for (const Cell& cell : cells) {
    bytes += cell.qualifier.size();
    const std::string_view value = ValueOf(cell);
    if (!IsSame(value, before)) bytes += value.size();
    before = value;
  }
  STELE_ASSIGN_OR_RETURN(Buffer held, Buffer::Allocate(bytes));
  char* out = held.data();
  const auto copy = [&out](std::string_view* part) {
    if (part->empty()) return;
    std::memcpy(out, part->data(), part->size());
    *part = std::string_view(out, part->size());
    out += part->size();
  };
  before = {};
  std::string_view before_copied;
  for (Cell& cell : cells) {
    copy(&cell.qualifier);
    const std::string_view value = ValueOf(cell);
    if (cell.is_lazy) {
      before = {};
      before_copied = {};
      continue;
    }
    if (IsSame(value, before)) {
      cell.value = before_copied;
    } else {
      copy(&cell.value);
    }
    before = value;
    before_copied = cell.value;
  }
  return held;
}

}  // namespace stele::internal
