#include "stele/row.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/hll.h"
#include "base/status.h"

namespace stele {
inline namespace v0 {
namespace {

struct OwnedRow {
  std::unique_ptr<char[]> bytes;
  std::vector<std::string> labels;
  std::vector<CellView> cells;
};

// Neighbours of one column share the bytes of its names.
bool SameFamily(const CellView& a, const CellView& b) { return a.family() == b.family(); }
bool SameQualifier(const CellView& a, const CellView& b) { return a.qualifier() == b.qualifier(); }

size_t CountBytes(const RowView& view) {
  size_t bytes = view.row_key().size();
  const CellView* previous = nullptr;
  for (const CellView& cell : view.cells()) {
    if (previous == nullptr || !SameFamily(*previous, cell)) bytes += cell.family().size();
    if (previous == nullptr || !SameQualifier(*previous, cell)) bytes += cell.qualifier().size();
    bytes += cell.value().size();
    previous = &cell;
  }
  return bytes;
}

std::string_view CopyTo(char** place, std::string_view bytes) {
  if (bytes.empty()) return {};
  char* const start = *place;
  std::memcpy(start, bytes.data(), bytes.size());
  *place += bytes.size();
  return {start, bytes.size()};
}

void CopyCells(const RowView& view, char* place, OwnedRow* owned) {
  size_t label_count = 0;
  for (const CellView& cell : view.cells()) label_count += cell.labels().size();
  owned->labels.reserve(label_count);  // spans into it must stay
  owned->cells.reserve(view.cells().size());
  for (const CellView& cell : view.cells()) {
    const CellView* const previous = owned->cells.empty() ? nullptr : &owned->cells.back();
    const std::string_view family = previous != nullptr && SameFamily(*previous, cell) ? previous->family() : CopyTo(&place, cell.family());
    const std::string_view qualifier =
        previous != nullptr && SameQualifier(*previous, cell) ? previous->qualifier() : CopyTo(&place, cell.qualifier());
    const size_t first_label = owned->labels.size();
    owned->labels.insert(owned->labels.end(), cell.labels().begin(), cell.labels().end());
    const std::span<const std::string> labels(owned->labels.data() + first_label, cell.labels().size());
    owned->cells.emplace_back(family, qualifier, cell.timestamp(), CopyTo(&place, cell.value()), labels);
  }
}

}  // namespace

absl::StatusOr<int64_t> CellView::AsInt64() const {
  if (value_.size() != 8) {
    return internal::InvalidArgument("cell {}:{}: a number takes 8 bytes, the value has {}", family_, internal::Printable(qualifier_),
                                     value_.size());
  }
  uint64_t number = 0;
  for (const char c : value_) number = number << 8 | static_cast<unsigned char>(c);
  return static_cast<int64_t>(number);
}

absl::StatusOr<double> CellView::EstimateCardinality() const {
  if (const std::optional<double> estimate = internal::EstimateHll(value_)) return *estimate;
  return internal::InvalidArgument("cell {}:{}: the value of {} bytes is no sketch of an hll family", family_,
                                   internal::Printable(qualifier_), value_.size());
}

std::span<const CellView> RowView::family(std::string_view name) const {
  const auto first =
      std::lower_bound(cells_.begin(), cells_.end(), name, [](const CellView& cell, std::string_view n) { return cell.family() < n; });
  const auto last = std::upper_bound(first, cells_.end(), name, [](std::string_view n, const CellView& cell) { return n < cell.family(); });
  return std::span<const CellView>(first, last);
}

std::optional<CellView> RowView::cell(std::string_view family, std::string_view qualifier) const {
  const auto wanted = std::pair(family, qualifier);
  const auto place = std::lower_bound(cells_.begin(), cells_.end(), wanted,
                                      [](const CellView& cell, const auto& w) { return std::pair(cell.family(), cell.qualifier()) < w; });
  if (place == cells_.end() || std::pair(place->family(), place->qualifier()) != wanted) return std::nullopt;
  return *place;
}

Row RowView::Own() const { return Row(*this); }

Row::Row(const RowView& view) {
  auto owned = std::make_shared<OwnedRow>();
  owned->bytes = std::make_unique_for_overwrite<char[]>(CountBytes(view));
  char* place = owned->bytes.get();
  const std::string_view row_key = CopyTo(&place, view.row_key());
  CopyCells(view, place, owned.get());
  view_ = RowView(row_key, owned->cells, view.is_last_piece());
  storage_ = std::move(owned);
}

}  // namespace v0
}  // namespace stele
