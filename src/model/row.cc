#include "stele/row.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/hll.h"
#include "base/status.h"
#include "model/access.h"

namespace stele {
inline namespace v0 {
namespace {

// One block of memory with a row's cells, followed by the bytes that they view.
using RowMemory = std::shared_ptr<uint64_t[]>;
static_assert(std::is_trivially_destructible_v<CellView> &&
              alignof(CellView) <= alignof(uint64_t) && sizeof(CellView) % sizeof(uint64_t) == 0);

// For the few rows with labels.
struct LabelledRow {
  RowMemory memory;
  std::vector<std::string> labels;
};

// Returns true if two names are equal, so that neighbouring cells can share one copy. In the source
// such names usually share their bytes, too. Other names often have the same length and differ in
// the last byte.
bool IsSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  return a.data() == b.data() || a.empty() || (a.back() == b.back() && a == b);
}

struct RowSize {
  size_t bytes = 0;
  size_t label_count = 0;
};

RowSize SizeOf(const RowView& view) {
  RowSize size{.bytes = view.row_key().size()};
  const CellView* previous = nullptr;
  for (const CellView& cell : view.cells()) {
    if (previous == nullptr || !IsSame(previous->family(), cell.family()))
      size.bytes += cell.family().size();
    if (previous == nullptr || !IsSame(previous->qualifier(), cell.qualifier()))
      size.bytes += cell.qualifier().size();
    size.bytes += cell.value().size();
    size.label_count += cell.labels().size();
    previous = &cell;
  }
  return size;
}

std::string_view CopyTo(char** place, std::string_view bytes) {
  if (bytes.empty()) return {};
  char* const start = *place;
  std::memcpy(start, bytes.data(), bytes.size());
  *place += bytes.size();
  return {start, bytes.size()};
}

// The caller has reserved capacity for all labels in `labels`, so that spans into it stay valid.
void CopyCells(std::span<const CellView> cells, CellView* out, char* place,
               std::vector<std::string>* labels) {
  std::string_view family;
  std::string_view qualifier;
  const CellView* previous = nullptr;
  for (const CellView& cell : cells) {
    if (previous == nullptr || !IsSame(previous->family(), cell.family()))
      family = CopyTo(&place, cell.family());
    if (previous == nullptr || !IsSame(previous->qualifier(), cell.qualifier()))
      qualifier = CopyTo(&place, cell.qualifier());
    std::span<const std::string> cell_labels;
    if (!cell.labels().empty()) {
      const size_t first_label = labels->size();
      labels->insert(labels->end(), cell.labels().begin(), cell.labels().end());
      cell_labels = {labels->data() + first_label, cell.labels().size()};
    }
    std::construct_at(out++, family, qualifier, cell.timestamp(), CopyTo(&place, cell.value()),
                      cell_labels);
    previous = &cell;
  }
}

absl::StatusOr<int64_t> NumberOf(std::string_view value) {
  if (value.size() != 8)
    return internal::InvalidArgument("a number has 8 bytes, the value has {}", value.size());
  uint64_t number = 0;
  for (const char c : value) number = number << 8 | static_cast<unsigned char>(c);
  return static_cast<int64_t>(number);
}

absl::StatusOr<double> CardinalityOf(std::string_view value) {
  if (const std::optional<double> estimate = internal::EstimateHll(value)) return *estimate;
  return internal::InvalidArgument("the value of {} bytes is not an HLL sketch", value.size());
}

// Adds the column of `cell` to an error.
template <typename T>
absl::StatusOr<T> InColumn(absl::StatusOr<T> result, const CellView& cell) {
  if (result.ok()) return result;
  return internal::WithContext(result.status(), fmt::format("cell {}:{}", cell.family(),
                                                            internal::Printable(cell.qualifier())));
}

}  // namespace

absl::StatusOr<int64_t> CellView::AsInt64() const { return InColumn(NumberOf(value_), *this); }

absl::StatusOr<double> CellView::EstimateCardinality() const {
  return InColumn(CardinalityOf(value_), *this);
}

absl::StatusOr<int64_t> Cell::AsInt64() const { return NumberOf(value_); }

absl::StatusOr<double> Cell::EstimateCardinality() const { return CardinalityOf(value_); }

// The cells of a family are contiguous, but families are in the order of their creation. So this
// skips from one family to the next.
std::span<const CellView> RowView::family(std::string_view name) const {
  for (auto first = cells_.begin(); first != cells_.end();) {
    const std::string_view family = first->family();
    const auto last = std::partition_point(
        first, cells_.end(), [&](const CellView& cell) { return IsSame(cell.family(), family); });
    if (family == name) return {first, last};
    first = last;
  }
  return {};
}

std::optional<CellView> RowView::cell(std::string_view family, std::string_view qualifier) const {
  const std::span<const CellView> cells = this->family(family);
  const auto place = std::lower_bound(
      cells.begin(), cells.end(), qualifier,
      [](const CellView& cell, std::string_view wanted) { return cell.qualifier() < wanted; });
  if (place == cells.end() || place->qualifier() != qualifier) return std::nullopt;
  return *place;
}

Row RowView::Own() const { return Row(*this); }

Row::Row(const RowView& view) {
  const RowSize size = SizeOf(view);
  const size_t cells_words = view.cells().size() * (sizeof(CellView) / sizeof(uint64_t));
  RowMemory memory = std::make_shared_for_overwrite<uint64_t[]>(
      cells_words + (size.bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  auto* const cells = reinterpret_cast<CellView*>(memory.get());
  char* place = reinterpret_cast<char*>(memory.get() + cells_words);
  const std::string_view row_key = CopyTo(&place, view.row_key());
  if (size.label_count == 0) {
    CopyCells(view.cells(), cells, place, nullptr);
    storage_ = std::move(memory);
  } else {
    auto labelled = std::make_shared<LabelledRow>(LabelledRow{std::move(memory), {}});
    labelled->labels.reserve(size.label_count);
    CopyCells(view.cells(), cells, place, &labelled->labels);
    storage_ = std::move(labelled);
  }
  view_ = internal::Access::Make<RowView>(
      row_key, std::span<const CellView>(cells, view.cells().size()), view.is_last_piece());
}

}  // namespace v0
}  // namespace stele
