// mutation/batch_inline.h: the body of RowOps::ForEach. Included by mutation/batch.h alone.
//
// Format:    docs/reference/format/batch.md.
#pragma once

#include "base/coding.h"
#include "cell/fold.h"
#include "mutation/batch.h"

namespace stele::internal {

// Reads one operation and checks its bounds. Returns false if it is corrupt.
inline bool ReadBatchOp(ByteReader* reader, BatchOp* op) {
  uint8_t kind;
  if (!reader->ReadByte(&kind) || !IsCellKind(kind)) return false;
  *op = BatchOp{.kind = static_cast<CellKind>(kind)};
  if (op->kind == CellKind::kDeleteRow) return true;
  if (!reader->ReadVarint32(&op->family_id) || op->family_id == 0) return false;
  if (op->kind == CellKind::kDeleteFamily) return true;
  uint64_t timestamp;
  if (!reader->ReadBytes(&op->qualifier) || op->qualifier.size() > kBatchKeyBytesMax ||
      !reader->ReadFixed64(&timestamp))
    return false;
  op->timestamp = static_cast<int64_t>(timestamp);
  if (op->timestamp < 0) return false;
  if (op->kind == CellKind::kSet)
    return reader->ReadBytes(&op->value) && op->value.size() <= kBatchValueBytesMax;
  if (IsDelta(op->kind)) return reader->ReadBytes(&op->value) && IsDeltaValue(op->kind, op->value);
  uint64_t range_start;
  if (!reader->ReadFixed64(&range_start)) return false;
  op->range_start = static_cast<int64_t>(range_start);
  return op->range_start >= 0 && op->range_start <= op->timestamp;
}

template <typename Visit>
bool RowOps::ForEach(Visit visit) const {
  ByteReader reader(encoded_ops_);
  BatchOp op;
  for (uint32_t i = 0; i < op_count_; ++i) {
    if (!ReadBatchOp(&reader, &op) || !visit(static_cast<const BatchOp&>(op))) return false;
  }
  return reader.AtEnd();
}

}  // namespace stele::internal
