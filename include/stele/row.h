// stele/row.h: rows and cells returned by reads, as views of engine memory or as owned copies.
//
// Threads:   const access from several threads is safe while the viewed memory is valid.
// Source:    google.bigtable.v2.Row, Family, Column, Cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/timestamp.h"

namespace stele {
namespace internal {
struct Access;
}
inline namespace v0 {

// A view of one cell: one version of a column of a row.
// Lifetime: the bytes belong to the row that returned the cell. The bytes of a RowView are valid
// until the next RowReader::Next(), the bytes of a Row while any copy of the Row exists.
class CellView {
 public:
  // Constructs a cell with empty names, an empty value and timestamp 0.
  CellView() = default;
  // Constructs a view of bytes that the caller keeps alive.
  CellView(std::string_view family, std::string_view qualifier, Timestamp timestamp,
           std::string_view value, std::span<const std::string> labels = {})
      : family_(family),
        qualifier_(qualifier),
        value_(value),
        timestamp_(timestamp),
        labels_(labels) {}

  // The name of the column family.
  std::string_view family() const { return family_; }
  // The qualifier of the column. May be empty.
  std::string_view qualifier() const { return qualifier_; }
  // The bytes of the value. May be empty.
  std::string_view value() const { return value_; }
  // The timestamp that distinguishes this version from others of the same column.
  Timestamp timestamp() const { return timestamp_; }
  // Labels added by Filter::Label. Usually empty.
  std::span<const std::string> labels() const { return labels_; }

  // Decodes the value as a number: eight bytes big-endian, two's complement. InvalidArgument if the
  // value has another length.
  [[nodiscard]] absl::StatusOr<int64_t> AsInt64() const;
  // Estimates the number of distinct items that were added to a cell of type kHll. The standard
  // error is 0.81 %; up to about 3,000 items the estimate is practically exact. InvalidArgument if
  // the value is not an HLL sketch.
  [[nodiscard]] absl::StatusOr<double> EstimateCardinality() const;

 private:
  std::string_view family_;
  std::string_view qualifier_;
  std::string_view value_;
  Timestamp timestamp_;
  std::span<const std::string> labels_;
};

// A cell that owns its bytes, returned by Table::ReadCell.
class [[nodiscard]] Cell {
 public:
  // Constructs an empty value at timestamp 0.
  Cell() = default;
  // Takes ownership of `value`.
  Cell(Timestamp timestamp, std::string value) : value_(std::move(value)), timestamp_(timestamp) {}

  // The bytes of the value. May be empty. Called on a temporary, it moves them out.
  const std::string& value() const& ABSL_ATTRIBUTE_LIFETIME_BOUND { return value_; }
  std::string value() && { return std::move(value_); }
  // The timestamp of the version.
  Timestamp timestamp() const { return timestamp_; }

  // Decode the value as the functions of CellView do.
  [[nodiscard]] absl::StatusOr<int64_t> AsInt64() const;
  [[nodiscard]] absl::StatusOr<double> EstimateCardinality() const;

  friend bool operator==(const Cell&, const Cell&) = default;

 private:
  std::string value_;
  Timestamp timestamp_;
};

class Row;

// A view of a row, or of a piece of a very large row, returned by a RowReader.
//
// Order of cells: families in order of creation (families created by one call, by name); within a
// family, qualifiers in byte order; within a column, newest version first.
//
// Lifetime: valid until the next RowReader::Next(), and not after the reader is destroyed. Cheap to
// copy; a copy has the same lifetime.
class RowView {
 public:
  RowView() = default;
  // The key of the row.
  std::string_view row_key() const { return row_key_; }
  // All cells, in order. Never empty for a row that a read returned.
  std::span<const CellView> cells() const { return cells_; }
  // The cells of one family. Empty if there are none.
  std::span<const CellView> family(std::string_view name) const;
  // The newest cell of a column in this view. Nullopt if there is none.
  std::optional<CellView> cell(std::string_view family, std::string_view qualifier) const;
  // False if more pieces of the same row follow. See ReadOptions.row_piece_bytes.
  bool is_last_piece() const { return is_last_piece_; }

  // Returns a copy that owns its bytes.
  Row Own() const;

 private:
  friend struct internal::Access;

  // `cells` must be in order. The cells and their bytes must outlive the view.
  RowView(std::string_view row_key, std::span<const CellView> cells, bool is_last_piece = true)
      : row_key_(row_key), cells_(cells), is_last_piece_(is_last_piece) {}

  std::string_view row_key_;
  std::span<const CellView> cells_;
  bool is_last_piece_ = true;
};

// A callback that receives a view of a row; see Table::VisitRow. A lambda that captures at most two
// references or pointers needs no heap allocation.
using RowVisitor = std::function<void(const RowView&)>;

// A row that owns its bytes. Immutable. Copies share the bytes, so copying is cheap, and a view
// obtained from one copy is valid while any copy exists. Default: no key and no cells.
class [[nodiscard]] Row {
 public:
  Row() = default;
  // Copies the row key and the cells of `view`.
  explicit Row(const RowView& view);
  Row(const Row&) = default;
  Row& operator=(const Row&) = default;
  // A moved-from row is empty, like a default-constructed one.
  Row(Row&& other) noexcept
      : storage_(std::move(other.storage_)), view_(std::exchange(other.view_, RowView())) {}
  Row& operator=(Row&& other) noexcept {
    storage_ = std::move(other.storage_);
    view_ = std::exchange(other.view_, RowView());
    return *this;
  }

  // The next four return the same as the functions of RowView.
  std::string_view row_key() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return view_.row_key(); }
  std::span<const CellView> cells() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return view_.cells(); }
  std::span<const CellView> family(std::string_view name) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return view_.family(name);
  }
  std::optional<CellView> cell(std::string_view family,
                               std::string_view qualifier) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return view_.cell(family, qualifier);
  }
  // False for a copy of a piece that is not the last of its row.
  bool is_last_piece() const { return view_.is_last_piece(); }
  // A view of this row, valid while any copy of the row exists.
  const RowView& view() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return view_; }

 private:
  std::shared_ptr<const void> storage_;
  RowView view_;
};

}  // namespace v0
}  // namespace stele
