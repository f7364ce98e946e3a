#include "stele/mutation.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "model/mutation_ops.h"

// An op is an OpHeader followed by the bytes of the family, the qualifier and the value. Lengths
// have a fixed size: an op is read more than once before it is in a batch, and decoding varints
// would dominate that.
namespace stele {
namespace internal {
namespace {

// In memory only; values may change between versions.
enum class Tag : uint8_t {
  kSetCellNow,
  kSetCell,
  kAddInt,  // the value is the amount, in eight bytes
  kAddItem,
  kMerge,
  kDeleteColumn,
  kDeleteColumnFrom,   // with a start timestamp
  kDeleteColumnRange,  // with start and end; the value is the end, in eight bytes
  kDeleteFamily,
  kDeleteRow,
};

struct OpHeader {
  uint64_t tag : 8;
  uint64_t family_bytes : 56;
  uint64_t qualifier_bytes;
  uint64_t value_bytes;
  int64_t micros;  // the timestamp, or the start of a range
};
constexpr size_t kNumberBytes = sizeof(int64_t);
constexpr size_t kFixedBytesMax = sizeof(OpHeader) + kNumberBytes;

struct OpColumn {
  std::string_view family = {};
  std::string_view qualifier = {};
};

void Append(std::string& out, Tag tag, OpColumn column, int64_t micros, std::string_view value) {
  const OpHeader header = {.tag = static_cast<uint64_t>(tag),
                           .family_bytes = column.family.size(),
                           .qualifier_bytes = column.qualifier.size(),
                           .value_bytes = value.size(),
                           .micros = micros};
  const size_t begin = out.size();
  const size_t end =
      begin + sizeof header + column.family.size() + column.qualifier.size() + value.size();
  // Grow geometrically: growing by the needed amount would copy everything each time.
  if (end > out.capacity()) out.reserve(std::max(end, 2 * out.capacity()));
  out.append(reinterpret_cast<const char*>(&header), sizeof header)
      .append(column.family)
      .append(column.qualifier)
      .append(value);
}

void Append(std::string& out, Tag tag, OpColumn column, int64_t micros, int64_t number) {
  Append(out, tag, column, micros,
         std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
}

bool ReadNumber(std::string_view bytes, int64_t* number) {
  if (bytes.size() != kNumberBytes) return false;
  *number = static_cast<int64_t>(LoadFixed64(bytes.data()));
  return true;
}

}  // namespace

bool MutationOpReader::Next(MutationOp* op) {
  std::string_view bytes;
  OpHeader header;
  if (!reader_.ReadRaw(sizeof header, &bytes)) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  *op = MutationOp();
  if (!reader_.ReadRaw(header.family_bytes, &op->family) ||
      !reader_.ReadRaw(header.qualifier_bytes, &op->qualifier) ||
      !reader_.ReadRaw(header.value_bytes, &op->value)) {
    return false;
  }
  op->timestamp = header.micros;
  switch (static_cast<Tag>(header.tag)) {
    case Tag::kSetCellNow:
      op->server_time = true;
      return true;
    case Tag::kSetCell:
      return true;
    case Tag::kAddInt:
      op->kind = MutationOp::Kind::kAddInt;
      return ReadNumber(std::exchange(op->value, {}), &op->amount);
    case Tag::kAddItem:
      op->kind = MutationOp::Kind::kAddItem;
      return true;
    case Tag::kMerge:
      op->kind = MutationOp::Kind::kMerge;
      return true;
    case Tag::kDeleteColumn:
    case Tag::kDeleteColumnFrom:
      op->kind = MutationOp::Kind::kDeleteFromColumn;
      op->range_start = std::exchange(op->timestamp, 0);
      return true;
    case Tag::kDeleteColumnRange:
      op->kind = MutationOp::Kind::kDeleteFromColumn;
      op->range_start = std::exchange(op->timestamp, 0);
      return ReadNumber(std::exchange(op->value, {}), &op->range_end.emplace());
    case Tag::kDeleteFamily:
      op->kind = MutationOp::Kind::kDeleteFromFamily;
      return true;
    case Tag::kDeleteRow:
      op->kind = MutationOp::Kind::kDeleteFromRow;
      return true;
  }
  return false;
}

}  // namespace internal

inline namespace v0 {

using internal::Append;
using internal::Tag;

RowMutation& RowMutation::Reserve(size_t count, size_t bytes) {
  ops_.reserve(ops_.size() + count * internal::kFixedBytesMax + bytes);
  return *this;
}

RowMutation& RowMutation::SetCell(std::string_view family, std::string_view qualifier,
                                  std::string_view value) {
  Append(ops_, Tag::kSetCellNow, {family, qualifier}, 0, value);
  ++count_;
  return *this;
}

RowMutation& RowMutation::SetCell(std::string_view family, std::string_view qualifier,
                                  Timestamp timestamp, std::string_view value) {
  Append(ops_, Tag::kSetCell, {family, qualifier}, timestamp.micros(), value);
  ++count_;
  return *this;
}

RowMutation& RowMutation::AddToCell(std::string_view family, std::string_view qualifier,
                                    Timestamp timestamp, int64_t value) {
  Append(ops_, Tag::kAddInt, {family, qualifier}, timestamp.micros(), value);
  ++count_;
  return *this;
}

RowMutation& RowMutation::AddToCell(std::string_view family, std::string_view qualifier,
                                    Timestamp timestamp, std::string_view item) {
  Append(ops_, Tag::kAddItem, {family, qualifier}, timestamp.micros(), item);
  ++count_;
  return *this;
}

RowMutation& RowMutation::MergeToCell(std::string_view family, std::string_view qualifier,
                                      Timestamp timestamp, std::string_view state) {
  Append(ops_, Tag::kMerge, {family, qualifier}, timestamp.micros(), state);
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromColumn(std::string_view family, std::string_view qualifier) {
  Append(ops_, Tag::kDeleteColumn, {family, qualifier}, 0, "");
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromColumn(std::string_view family, std::string_view qualifier,
                                           TimestampRange range) {
  if (range.end) {
    Append(ops_, Tag::kDeleteColumnRange, {family, qualifier}, range.start.micros(),
           range.end->micros());
  } else {
    Append(ops_, Tag::kDeleteColumnFrom, {family, qualifier}, range.start.micros(), "");
  }
  deletes_ranges_ = true;
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromFamily(std::string_view family) {
  Append(ops_, Tag::kDeleteFamily, {.family = family}, 0, "");
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromRow() {
  Append(ops_, Tag::kDeleteRow, {}, 0, "");
  ++count_;
  return *this;
}

ReadModifyWriteRule ReadModifyWriteRule::AppendValue(std::string family, std::string qualifier,
                                                     std::string value) {
  return ReadModifyWriteRule(Kind::kAppendValue, std::move(family), std::move(qualifier),
                             std::move(value), 0);
}

ReadModifyWriteRule ReadModifyWriteRule::IncrementAmount(std::string family, std::string qualifier,
                                                         int64_t amount) {
  return ReadModifyWriteRule(Kind::kIncrementAmount, std::move(family), std::move(qualifier), "",
                             amount);
}

}  // namespace v0
}  // namespace stele
