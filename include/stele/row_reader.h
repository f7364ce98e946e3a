// stele/row_reader.h: rows one after the other, as Table::ReadRows gives them.
//
// Errors:    Next() answers false at the end and on an error; status() tells which.
// Threads:   one thread at a time.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "stele/row.h"
#include "stele/stats.h"

namespace stele {
namespace internal {
class RowSource;
}
inline namespace v0 {

// Reads rows in order, each seen at the one moment that the read fixed when it began:
//   for (const stele::RowView& row : reader) { ... }
//   if (!reader.status().ok()) ...
// or by hand with Next() and row().
// Lifetime: keeps all that it needs alive, the database too, until it is destroyed; move-only. A RowView, and all cells, keys and values
// taken from it, is valid until the next Next() (which ++ of an iterator calls), the reader's move or its end; RowView::Own() keeps a row.
// Errors in status(): those of the arguments (InvalidArgument; NotFound for a deleted table; FailedPrecondition for an empty handle or a
// closed database), Cancelled, DeadlineExceeded, DataLoss naming file and offset, ResourceExhausted. Rows returned before stay right.
class RowReader {
 public:
  // A reader of nothing, with status FailedPrecondition.
  RowReader();
  RowReader(RowReader&& other) noexcept;
  RowReader& operator=(RowReader&& other) noexcept;
  ~RowReader();

  // Goes to the next row, or the next piece of a huge one. False: there is none, or status() is not OK; and so ever after.
  bool Next();
  // The row that Next() went to; an empty view before the first Next() and after the last.
  const RowView& row() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // OK while rows come, and at a proper end.
  absl::Status status() const;
  ReadStats stats() const;

  // An input iterator: one pass, one position.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = RowView;
    using difference_type = std::ptrdiff_t;
    using pointer = const RowView*;
    using reference = const RowView&;

    Iterator() = default;
    explicit Iterator(RowReader* reader) : reader_(reader) { ++*this; }

    reference operator*() const { return reader_->row(); }
    pointer operator->() const { return &reader_->row(); }
    Iterator& operator++() {
      if (!reader_->Next()) reader_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const Iterator& other) const { return reader_ == other.reader_; }

   private:
    RowReader* reader_ = nullptr;
  };
  // Goes to the next row: call it once.
  Iterator begin() ABSL_ATTRIBUTE_LIFETIME_BOUND { return Iterator(this); }
  Iterator end() { return Iterator(); }

  // For the engine. The second is a read that failed before it began.
  explicit RowReader(std::unique_ptr<internal::RowSource> source);
  explicit RowReader(absl::Status error);

 private:
  std::unique_ptr<internal::RowSource> source_;
  absl::Status error_;   // without a source
  bool on_row_ = false;  // source_ stands on a row
  bool ended_ = false;   // Next() answered false
};

}  // namespace v0
}  // namespace stele
