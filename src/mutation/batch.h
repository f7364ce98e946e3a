// mutation/batch.h: the batch: what one commit logs and applies, encoded once and read by the memtable and by recovery alike.
//
// Path:      table write -> mutation/check.h -> BatchWriter -> commit queue -> wal (opaque bytes) -> BatchReader -> memtable.
// Format:    docs/format/batch.md. Families and tables are ids (engine rule 6); timestamps are resolved; ranges are inclusive as in cell.h.
// Errors:    a reader of damaged bytes answers DataLoss-worthy `false`; it never reads past its bytes, and what it hands out keeps the
//            bounds below, so that its users need no checks of their own.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cell/cell.h"

namespace stele::internal {

// No stored key, qualifier or value is larger; the limits of a table (stele/schema.h) may only be lower.
inline constexpr size_t kBatchKeyBytesMax = 65'535;
inline constexpr size_t kBatchValueBytesMax = size_t{256} << 20;

// One operation as stored. For kDeleteRow family_id is 0; qualifier and value as in Cell.
struct BatchOp {
  CellKind kind = CellKind::kSet;
  uint32_t family_id = 0;
  int64_t timestamp = 0;    // the version; kDeleteRange: newest covered, inclusive
  int64_t range_start = 0;  // kDeleteRange: oldest covered, inclusive
  std::string_view qualifier;
  std::string_view value;
};

// The operations of one row, decoded on the fly. Views point into the batch's bytes.
class RowOps {
 public:
  RowOps() = default;
  RowOps(uint32_t table_id, std::string_view row_key, uint32_t op_count, std::string_view encoded_ops)
      : table_id_(table_id), row_key_(row_key), op_count_(op_count), encoded_ops_(encoded_ops) {}
  uint32_t table_id() const { return table_id_; }
  std::string_view row_key() const { return row_key_; }
  uint32_t op_count() const { return op_count_; }
  // Calls visit(const BatchOp&) -> bool (false stops) for each operation in order; false when the bytes are damaged or visit stopped it.
  template <typename Visit>
  bool ForEach(Visit visit) const;

 private:
  uint32_t table_id_ = 0;
  std::string_view row_key_;
  uint32_t op_count_ = 0;
  std::string_view encoded_ops_;
};

// Builds a batch: rows in order, operations in order. A row may come twice. The bounds above are the caller's to keep.
class BatchWriter {
 public:
  BatchWriter();
  // Room ahead for so many bytes of rows.
  void Reserve(size_t bytes) { bytes_.reserve(bytes_.size() + bytes); }
  void StartRow(uint32_t table_id, std::string_view row_key);
  void Add(const BatchOp& op);
  // As Add, of a cell whose timestamp is the clock at commit. Answers the timestamp's place in the batch, for SetBatchClock.
  size_t AddStamped(const BatchOp& op);
  // Takes back the row that was started last, with what was added to it.
  void AbandonRow();
  size_t row_count() const { return row_count_; }
  // A delete was added whose range starts above 0. Still true if its row was abandoned.
  bool has_ranged_delete() const { return has_ranged_delete_; }
  size_t bytes() const { return bytes_.size(); }  // of the batch so far
  // The encoded batch; the writer is empty afterwards. `clock_micros` of a batch is set by the commit leader with SetBatchClock.
  std::string Finish();

 private:
  void Clear();
  void CloseRow();

  std::string bytes_;
  size_t row_offset_ = 0;      // of the row started last
  size_t row_ops_offset_ = 0;  // of the open row's operations in bytes_; their counts stand right before; 0: no row is open
  uint32_t row_op_count_ = 0;
  uint32_t row_count_ = 0;
  bool has_ranged_delete_ = false;
  size_t timestamp_place_ = 0;  // of the operation added last that has one
};

// The database clock at commit (engine rule 7), at a fixed place so that the leader can set it in bytes encoded earlier.
// `stamp_place`: of a timestamp that is this clock, or 0 where the clock is below it; 0: there is none.
void SetBatchClock(std::string* batch, int64_t clock_micros, size_t stamp_place = 0);

class BatchReader {
 public:
  explicit BatchReader(std::string_view batch);
  int64_t clock_micros() const { return clock_micros_; }
  // False at the end, and when damaged: then ok() is false.
  bool NextRow(RowOps* row);
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  int64_t clock_micros_ = 0;
  uint32_t rows_left_ = 0;
  bool ok_ = true;
};

}  // namespace stele::internal

#include "mutation/batch_inline.h"  // the body of RowOps::ForEach, which memtable inserts run through
