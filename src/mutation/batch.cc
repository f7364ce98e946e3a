#include "mutation/batch.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"

namespace stele::internal {
namespace {

constexpr size_t kClockOffset = 0;
constexpr size_t kRowCountOffset = 8;
constexpr size_t kHeaderBytes = 12;
// The counts of operations and of their bytes have a fixed width, so that they can be set
// afterwards.
constexpr size_t kRowCountsBytes = 8;

}  // namespace

BatchWriter::BatchWriter() { Clear(); }

void BatchWriter::Clear() {
  bytes_.assign(kHeaderBytes, '\0');
  row_ops_offset_ = 0;
  row_count_ = 0;
  has_range_delete_ = false;
}

void BatchWriter::StartRow(uint32_t table_id, std::string_view row_key) {
  CloseRow();
  row_offset_ = bytes_.size();
  AppendVarint(bytes_, table_id);
  AppendBytes(bytes_, row_key);
  bytes_.append(kRowCountsBytes, '\0');
  row_ops_offset_ = bytes_.size();
  row_op_count_ = 0;
  ++row_count_;
}

void BatchWriter::Add(const BatchOp& op) {
  ++row_op_count_;
  bytes_.push_back(static_cast<char>(op.kind));
  if (op.kind == CellKind::kDeleteRow) return;
  AppendVarint(bytes_, op.family_id);
  if (op.kind == CellKind::kDeleteFamily) return;
  AppendBytes(bytes_, op.qualifier);
  timestamp_place_ = bytes_.size();
  AppendFixed64(bytes_, static_cast<uint64_t>(op.timestamp));
  if (op.kind == CellKind::kDeleteRange) {
    AppendFixed64(bytes_, static_cast<uint64_t>(op.range_start));
    has_range_delete_ = has_range_delete_ || op.range_start > 0;
  } else {
    AppendBytes(bytes_, op.value);
  }
}

size_t BatchWriter::AddStamped(const BatchOp& op) {
  Add(op);
  return timestamp_place_;
}

void BatchWriter::AbandonRow() {
  bytes_.resize(row_offset_);
  row_ops_offset_ = 0;
  --row_count_;
}

void BatchWriter::CloseRow() {
  if (row_ops_offset_ == 0) return;
  char* counts = bytes_.data() + row_ops_offset_ - kRowCountsBytes;
  StoreFixed32(counts, row_op_count_);
  StoreFixed32(counts + 4, static_cast<uint32_t>(bytes_.size() - row_ops_offset_));
  row_ops_offset_ = 0;
}

std::string BatchWriter::Finish() {
  CloseRow();
  StoreFixed32(bytes_.data() + kRowCountOffset, row_count_);
  std::string batch = std::move(bytes_);
  Clear();
  return batch;
}

void SetBatchClock(std::string* batch, int64_t clock_micros, size_t stamp_place) {
  StoreFixed64(batch->data() + kClockOffset, static_cast<uint64_t>(clock_micros));
  if (stamp_place != 0)
    StoreFixed64(batch->data() + stamp_place,
                 static_cast<uint64_t>(std::max<int64_t>(clock_micros, 0)));
}

BatchReader::BatchReader(std::string_view batch) {
  ByteReader reader(batch);
  uint64_t clock_micros;
  ok_ = reader.ReadFixed64(&clock_micros) && reader.ReadFixed32(&rows_left_) &&
        reader.ReadRaw(reader.remaining(), &rest_);
  if (!ok_) return;
  clock_micros_ = static_cast<int64_t>(clock_micros);
}

bool BatchReader::NextRow(RowOps* row) {
  if (!ok_) return false;
  if (rows_left_ == 0) {
    ok_ = rest_.empty();
    return false;
  }
  ByteReader reader(rest_);
  uint32_t table_id, op_count, ops_bytes;
  std::string_view row_key, encoded_ops;
  ok_ = reader.ReadVarint32(&table_id) && reader.ReadBytes(&row_key) && !row_key.empty() &&
        row_key.size() <= kBatchKeyBytesMax && reader.ReadFixed32(&op_count) &&
        reader.ReadFixed32(&ops_bytes) && reader.ReadRaw(ops_bytes, &encoded_ops);
  if (!ok_) return false;
  rest_.remove_prefix(rest_.size() - reader.remaining());
  --rows_left_;
  *row = RowOps(table_id, row_key, op_count, encoded_ops);
  return true;
}

}  // namespace stele::internal
