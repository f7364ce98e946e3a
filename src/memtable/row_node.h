// memtable/row_node.h: one row of a memtable: its key, its columns, and its links in the list of
// rows.
//
// Used by:   memtable/row_list.cc links it, memtable/row_index.cc finds it by its key.
// Threads:   one inserting thread and any number of concurrent readers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "memtable/column_list.h"

namespace stele::internal {

// A row. In the arena, its links and then its key follow it.
class RowNode {
 public:
  struct Link {
    std::atomic<RowNode*> node{nullptr};
    std::atomic<uint64_t> prefix{UINT64_MAX};
  };

  // Returns nullptr if the arena is refused memory.
  static RowNode* Make(Arena* arena, std::string_view row_key, uint64_t sequence, int height);
  // For the head of a list, which has no key.
  explicit RowNode(int height) : first_sequence_(0), row_key_bytes_(0), height_(height) {}

  std::string_view row_key() const {
    return {reinterpret_cast<const char*>(links() + height_), row_key_bytes_};
  }
  // The commit that created the row. Cursors at lower sequences skip it.
  uint64_t first_sequence() const { return first_sequence_; }
  const ColumnList& columns() const { return columns_; }
  ColumnList& columns() { return columns_; }
  const RowNode* next() const { return links()[0].node.load(std::memory_order_acquire); }

  std::atomic<RowNode*>& previous() { return previous_; }
  const std::atomic<RowNode*>& previous() const { return previous_; }
  int height() const { return height_; }
  const Link* links() const { return reinterpret_cast<const Link*>(this + 1); }
  Link* links() { return reinterpret_cast<Link*>(this + 1); }

 private:
  RowNode(std::string_view row_key, uint64_t sequence, int height)
      : first_sequence_(sequence),
        row_key_bytes_(static_cast<uint32_t>(row_key.size())),
        height_(height) {}

  const uint64_t first_sequence_;
  std::atomic<RowNode*> previous_{nullptr};
  ColumnList columns_;
  const uint32_t row_key_bytes_;
  const int32_t height_;
};

}  // namespace stele::internal
