// stele/row.h: what a read returns: cells and rows, as views into the engine's memory or owned.
//
// Threads:   const access from many threads is safe while what is viewed lives.
// Source:    google.bigtable.v2.Row, Family, Column, Cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "stele/timestamp.h"

namespace stele {
inline namespace v0 {

// One cell. A view: its bytes belong to the row it came from, and are valid as long as that is (for a row of a RowReader until the next
// Next(); for a Row as long as any copy of that Row).
class CellView {
 public:
  CellView() = default;
  CellView(std::string_view family, std::string_view qualifier, Timestamp timestamp, std::string_view value,
           std::span<const std::string> labels = {})
      : family_(family), qualifier_(qualifier), value_(value), timestamp_(timestamp), labels_(labels) {}

  std::string_view family() const { return family_; }
  std::string_view qualifier() const { return qualifier_; }
  std::string_view value() const { return value_; }
  Timestamp timestamp() const { return timestamp_; }
  // Those of Filter::Label; mostly none.
  std::span<const std::string> labels() const { return labels_; }

  // The value as a number: eight bytes big-endian, two's complement. InvalidArgument if it has another length.
  absl::StatusOr<int64_t> AsInt64() const;
  // For a family of type kHll: about how many distinct items were added; the standard error is 0.81 %, up to about 3,000 it is as good as
  // exact. InvalidArgument if the value is no such sketch.
  absl::StatusOr<double> EstimateCardinality() const;

 private:
  std::string_view family_;
  std::string_view qualifier_;
  std::string_view value_;
  Timestamp timestamp_;
  std::span<const std::string> labels_;
};

class Row;

// A row, or a piece of a huge one, as a RowReader shows it: valid until the reader's next Next(), and not after the reader.
// Cells come in Bigtable's order: families by creation, those of one call by name; qualifiers by bytes; versions newest first. Cheap to
// copy, but a copy lives no longer than the original.
class RowView {
 public:
  RowView() = default;
  // For the engine: `cells` must be in order, and outlive the view as does what they view.
  RowView(std::string_view row_key, std::span<const CellView> cells, bool is_last_piece = true)
      : row_key_(row_key), cells_(cells), is_last_piece_(is_last_piece) {}

  std::string_view row_key() const { return row_key_; }
  // Random access; never empty for a row that a read returned.
  std::span<const CellView> cells() const { return cells_; }
  // The cells of one family; empty if the row has none.
  std::span<const CellView> family(std::string_view name) const;
  // The newest cell of a column, of those that this view shows.
  std::optional<CellView> cell(std::string_view family, std::string_view qualifier) const;
  // False for all but the last piece of a row above ReadOptions.row_piece_bytes.
  bool is_last_piece() const { return is_last_piece_; }

  // A copy that owns its bytes.
  Row Own() const;

 private:
  std::string_view row_key_;
  std::span<const CellView> cells_;
  bool is_last_piece_ = true;
};

// A row that owns its bytes. Immutable; copies share them, so copying is cheap, and views taken from one copy are valid as long as any
// copy lives. Default: no key and no cells.
class Row {
 public:
  Row() = default;
  // Copies everything that `view` shows.
  explicit Row(const RowView& view);
  Row(const Row&) = default;
  Row& operator=(const Row&) = default;
  // A row that was moved from is as a default one.
  Row(Row&& other) noexcept : storage_(std::move(other.storage_)), view_(std::exchange(other.view_, RowView())) {}
  Row& operator=(Row&& other) noexcept {
    storage_ = std::move(other.storage_);
    view_ = std::exchange(other.view_, RowView());
    return *this;
  }

  std::string_view row_key() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return view_.row_key(); }
  std::span<const CellView> cells() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return view_.cells(); }
  std::span<const CellView> family(std::string_view name) const ABSL_ATTRIBUTE_LIFETIME_BOUND { return view_.family(name); }
  std::optional<CellView> cell(std::string_view family, std::string_view qualifier) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return view_.cell(family, qualifier);
  }
  // True but for the copy of a piece that was not the last.
  bool is_last_piece() const { return view_.is_last_piece(); }
  const RowView& view() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return view_; }

 private:
  std::shared_ptr<const void> storage_;
  RowView view_;
};

}  // namespace v0
}  // namespace stele
