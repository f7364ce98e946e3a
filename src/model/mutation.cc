#include "stele/mutation.h"

#include "base/coding.h"
#include "model/mutation_ops.h"

// An op is a tag byte and its fields in the order in which MutationOp lists them. Bytes have their length before them.
namespace stele {
namespace internal {
namespace {

// In memory only: may change at will.
enum class Tag : uint8_t {
  kSetCellNow,
  kSetCell,
  kAddInt,
  kAddItem,
  kMerge,
  kDeleteColumn,
  kDeleteColumnFrom,   // with a start
  kDeleteColumnRange,  // with start and end
  kDeleteFamily,
  kDeleteRow,
};

// A tag, three lengths and two numbers never take more.
constexpr size_t kFixedBytesMax = 1 + 3 * 10 + 2 * 10;

void Begin(std::string& out, Tag tag, size_t bytes) {
  out.reserve(out.size() + kFixedBytesMax + bytes);
  out.push_back(static_cast<char>(tag));
}

void AppendColumn(std::string& out, Tag tag, std::string_view family, std::string_view qualifier, size_t value_bytes) {
  Begin(out, tag, family.size() + qualifier.size() + value_bytes);
  AppendBytes(out, family);
  AppendBytes(out, qualifier);
}

void AppendCell(std::string& out, Tag tag, std::string_view family, std::string_view qualifier, Timestamp timestamp,
                std::string_view value) {
  AppendColumn(out, tag, family, qualifier, value.size());
  AppendSignedVarint(out, timestamp.micros());
  AppendBytes(out, value);
}

bool ReadColumn(ByteReader& reader, MutationOp* op) { return reader.ReadBytes(&op->family) && reader.ReadBytes(&op->qualifier); }

bool ReadCell(ByteReader& reader, MutationOp::Kind kind, MutationOp* op) {
  op->kind = kind;
  return ReadColumn(reader, op) && reader.ReadSignedVarint(&op->timestamp) && reader.ReadBytes(&op->value);
}

bool ReadDeleteColumn(ByteReader& reader, Tag tag, MutationOp* op) {
  op->kind = MutationOp::Kind::kDeleteFromColumn;
  if (!ReadColumn(reader, op)) return false;
  if (tag == Tag::kDeleteColumn) return true;
  if (!reader.ReadSignedVarint(&op->range_start)) return false;
  if (tag == Tag::kDeleteColumnFrom) return true;
  return reader.ReadSignedVarint(&op->range_end.emplace());
}

}  // namespace

bool MutationOpReader::Next(MutationOp* op) {
  *op = MutationOp();
  uint8_t tag;
  if (reader_.AtEnd() || !reader_.ReadByte(&tag)) return false;
  switch (static_cast<Tag>(tag)) {
    case Tag::kSetCellNow:
      op->kind = MutationOp::Kind::kSetCell;
      op->server_time = true;
      return ReadColumn(reader_, op) && reader_.ReadBytes(&op->value);
    case Tag::kSetCell:
      return ReadCell(reader_, MutationOp::Kind::kSetCell, op);
    case Tag::kAddInt:
      op->kind = MutationOp::Kind::kAddInt;
      return ReadColumn(reader_, op) && reader_.ReadSignedVarint(&op->timestamp) && reader_.ReadSignedVarint(&op->amount);
    case Tag::kAddItem:
      return ReadCell(reader_, MutationOp::Kind::kAddItem, op);
    case Tag::kMerge:
      return ReadCell(reader_, MutationOp::Kind::kMerge, op);
    case Tag::kDeleteColumn:
    case Tag::kDeleteColumnFrom:
    case Tag::kDeleteColumnRange:
      return ReadDeleteColumn(reader_, static_cast<Tag>(tag), op);
    case Tag::kDeleteFamily:
      op->kind = MutationOp::Kind::kDeleteFromFamily;
      return reader_.ReadBytes(&op->family);
    case Tag::kDeleteRow:
      op->kind = MutationOp::Kind::kDeleteFromRow;
      return true;
  }
  return false;
}

}  // namespace internal

inline namespace v0 {

using internal::Tag;

RowMutation& RowMutation::Reserve(size_t count, size_t bytes) {
  ops_.reserve(ops_.size() + count * internal::kFixedBytesMax + bytes);
  return *this;
}

RowMutation& RowMutation::SetCell(std::string_view family, std::string_view qualifier, std::string_view value) {
  internal::AppendColumn(ops_, Tag::kSetCellNow, family, qualifier, value.size());
  internal::AppendBytes(ops_, value);
  ++count_;
  return *this;
}

RowMutation& RowMutation::SetCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, std::string_view value) {
  internal::AppendCell(ops_, Tag::kSetCell, family, qualifier, timestamp, value);
  ++count_;
  return *this;
}

RowMutation& RowMutation::AddToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, int64_t value) {
  internal::AppendColumn(ops_, Tag::kAddInt, family, qualifier, 0);
  internal::AppendSignedVarint(ops_, timestamp.micros());
  internal::AppendSignedVarint(ops_, value);
  ++count_;
  return *this;
}

RowMutation& RowMutation::AddToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, std::string_view item) {
  internal::AppendCell(ops_, Tag::kAddItem, family, qualifier, timestamp, item);
  ++count_;
  return *this;
}

RowMutation& RowMutation::MergeToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, std::string_view state) {
  internal::AppendCell(ops_, Tag::kMerge, family, qualifier, timestamp, state);
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromColumn(std::string_view family, std::string_view qualifier) {
  internal::AppendColumn(ops_, Tag::kDeleteColumn, family, qualifier, 0);
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromColumn(std::string_view family, std::string_view qualifier, TimestampRange range) {
  internal::AppendColumn(ops_, range.end ? Tag::kDeleteColumnRange : Tag::kDeleteColumnFrom, family, qualifier, 0);
  internal::AppendSignedVarint(ops_, range.start.micros());
  if (range.end) internal::AppendSignedVarint(ops_, range.end->micros());
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromFamily(std::string_view family) {
  internal::Begin(ops_, Tag::kDeleteFamily, family.size());
  internal::AppendBytes(ops_, family);
  ++count_;
  return *this;
}

RowMutation& RowMutation::DeleteFromRow() {
  internal::Begin(ops_, Tag::kDeleteRow, 0);
  ++count_;
  return *this;
}

ReadModifyWriteRule ReadModifyWriteRule::AppendValue(std::string family, std::string qualifier, std::string value) {
  return ReadModifyWriteRule(Kind::kAppendValue, std::move(family), std::move(qualifier), std::move(value), 0);
}

ReadModifyWriteRule ReadModifyWriteRule::IncrementAmount(std::string family, std::string qualifier, int64_t amount) {
  return ReadModifyWriteRule(Kind::kIncrementAmount, std::move(family), std::move(qualifier), "", amount);
}

}  // namespace v0
}  // namespace stele
