// mutation/batch.h: the encoded batch of one commit. It is logged, and the memtable and recovery
// read the same bytes.
//
// Used by:   write/write_steps.cc encodes with BatchWriter. The commit queue passes the bytes to
//            the log, which does not interpret them. commit/committer.cc and db/recovery.cc read
//            them with BatchReader and pass the operations to memtable/memtable.h.
// Format:    docs/reference/format/batch.md. Families and tables are ids (engine rule 6);
//            timestamps are resolved; ranges are inclusive as in cell.h.
// Errors:    a reader of corrupt bytes returns false, which its caller reports as DataLoss. It
//            never reads past its bytes. Everything that it returns is within the bounds below, so
//            callers need no further checks.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cell/cell.h"

namespace stele::internal {

// The limits for stored keys, qualifiers and values. A table's limits (stele/schema.h) may only be
// lower.
inline constexpr size_t kBatchKeyBytesMax = 65'535;
inline constexpr size_t kBatchValueBytesMax = size_t{256} << 20;

// One operation as stored. A kDeleteRow has family_id 0. Qualifier and value are as in Cell.
struct BatchOp {
  CellKind kind = CellKind::kSet;
  uint32_t family_id = 0;
  int64_t timestamp = 0;    // the version's; kDeleteRange: the newest covered, inclusive
  int64_t range_start = 0;  // kDeleteRange: the oldest covered, inclusive
  std::string_view qualifier;
  std::string_view value;
};

// The operations of one row, decoded during iteration. Views point into the batch's bytes.
class RowOps {
 public:
  RowOps() = default;
  RowOps(uint32_t table_id, std::string_view row_key, uint32_t op_count,
         std::string_view encoded_ops)
      : table_id_(table_id), row_key_(row_key), op_count_(op_count), encoded_ops_(encoded_ops) {}
  uint32_t table_id() const { return table_id_; }
  std::string_view row_key() const { return row_key_; }
  uint32_t op_count() const { return op_count_; }
  // Calls visit(const BatchOp&) -> bool for each operation in order; false stops the iteration.
  // Returns false if the bytes are corrupt or visit stopped it.
  template <typename Visit>
  bool ForEach(Visit visit) const;

 private:
  uint32_t table_id_ = 0;
  std::string_view row_key_;
  uint32_t op_count_ = 0;
  std::string_view encoded_ops_;
};

// Builds a batch: rows in order, operations in order. A row may occur twice. The caller must
// respect the limits above.
class BatchWriter {
 public:
  BatchWriter();
  // Reserves space for `bytes` more bytes of rows.
  void Reserve(size_t bytes) { bytes_.reserve(bytes_.size() + bytes); }
  void StartRow(uint32_t table_id, std::string_view row_key);
  void Add(const BatchOp& op);
  // Like Add, for a cell whose timestamp is the clock at commit. Returns the position of the
  // timestamp in the batch, for SetBatchClock.
  size_t AddStamped(const BatchOp& op);
  // Removes the row that was started last, with its operations.
  void AbandonRow();
  size_t row_count() const { return row_count_; }
  // True if a delete of a range that starts above 0 was added, even if its row was abandoned.
  bool has_range_delete() const { return has_range_delete_; }
  size_t bytes() const { return bytes_.size(); }  // size of the batch so far
  // Returns the encoded batch; the writer is empty afterwards. The commit leader sets
  // `clock_micros` with SetBatchClock.
  std::string Finish();

 private:
  void Clear();
  void CloseRow();

  std::string bytes_;
  size_t row_offset_ = 0;  // offset of the row started last
  // Offset in bytes_ of the open row's operations, right after their counts; 0: no row is open.
  size_t row_ops_offset_ = 0;
  uint32_t row_op_count_ = 0;
  uint32_t row_count_ = 0;
  bool has_range_delete_ = false;
  // Position of the timestamp in the operation added last that has one.
  size_t timestamp_place_ = 0;
};

// Sets the database clock at commit (engine rule 7). It has a fixed position, so that the leader
// can set it in an encoded batch. `stamp_place` is the position of a timestamp that is set to the
// clock, or to 0 if the clock is negative. With `stamp_place` 0 no timestamp is set.
void SetBatchClock(std::string* batch, int64_t clock_micros, size_t stamp_place = 0);

class BatchReader {
 public:
  explicit BatchReader(std::string_view batch);
  int64_t clock_micros() const { return clock_micros_; }
  // Returns false at the end, and if the bytes are corrupt: then ok() is false.
  bool NextRow(RowOps* row);
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  int64_t clock_micros_ = 0;
  uint32_t rows_left_ = 0;
  bool ok_ = true;
};

}  // namespace stele::internal

// The body of RowOps::ForEach, which memtable inserts run through.
#include "mutation/batch_inline.h"
