// stele/row_reader.h: the stream of rows that Table::ReadRows returns.
//
// Errors:    Next() returns false at the end and on an error; status() distinguishes the two.
// Threads:   one thread at a time.
// Fork:      see stele/database.h.
// Source:    google.bigtable.v2.Bigtable.ReadRows.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/row.h"
#include "stele/stats.h"

namespace stele {
namespace internal {
struct Access;
class RowSource;
}  // namespace internal
inline namespace v0 {

// Reads rows in key order. All rows come from one state of the table: that of ReadOptions.snapshot,
// or the newest commit when ReadRows was called. On a server, only each row is consistent in itself
// (stele/remote.h).
//   for (const stele::RowView& row : reader) { ... }
//   if (!reader.status().ok()) ...
// Next() and row() do the same without iterators.
//
// Lifetime: move-only. Keeps the database open. A RowView, and every cell, key and value obtained
// from it, is valid until the next call of Next() or ++iterator, or until the reader is moved or
// destroyed. RowView::Own() makes a copy that lives longer.
//
// Errors in status():
//   InvalidArgument      wrong arguments of the read
//   NotFound             the table was deleted before the read
//   FailedPrecondition   the handle was empty, or the database was closed, or the read was begun
//                        before a fork of this process
//   Cancelled, DeadlineExceeded, ResourceExhausted, Unavailable
//   DataLoss             stored bytes are corrupt; the message has file and offset
//   Unimplemented, Internal   only from a server: see stele/remote.h
// Rows returned before an error are correct. A row that is returned in pieces may lack the last
// pieces.
class [[nodiscard]] RowReader {
 public:
  // Constructs a reader without rows whose status is FailedPrecondition. A reader that was moved
  // from is the same.
  RowReader();
  RowReader(RowReader&& other) noexcept;
  RowReader& operator=(RowReader&& other) noexcept;
  ~RowReader();

  // Advances to the next row, or to the next piece of a very large row. Returns false at the end
  // and on an error, and on every later call.
  bool Next();
  // Returns the current row. An empty view before the first Next() and after Next() returned false.
  const RowView& row() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Returns the error that ended the read. OK while there are rows, and at the end of a complete
  // read. Call it after Next() returned false. A build with STELE_INVARIANTS ends the process if
  // a failed reader is destroyed without that call.
  [[nodiscard]] absl::Status status() const;
  // Returns the statistics of the read so far.
  ReadStats stats() const;

  // An input iterator. All iterators of a reader share its position.
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
  // Advances to the first row. Call it once per reader.
  Iterator begin() ABSL_ATTRIBUTE_LIFETIME_BOUND { return Iterator(this); }
  Iterator end() { return Iterator(); }

 private:
  friend struct internal::Access;

  explicit RowReader(std::unique_ptr<internal::RowSource> source);
  explicit RowReader(absl::Status error);  // a reader that failed before it started
  void CheckStatusWasRead() const;
  absl::Status Outcome() const;

  std::unique_ptr<internal::RowSource> source_;
  absl::Status error_;                    // status() if source_ is null; OK: an empty handle
  bool on_row_ = false;                   // source_ is positioned on a row
  bool ended_ = false;                    // Next() returned false
  mutable bool status_was_read_ = false;  // since the read failed; see CheckStatusWasRead()
};

}  // namespace v0
}  // namespace stele
