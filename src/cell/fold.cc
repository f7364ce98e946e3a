#include "cell/fold.h"

#include <fmt/format.h>

namespace stele::internal {
namespace {

uint64_t NumberOf(std::string_view value) {
  uint64_t number = 0;
  for (const char c : value) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

void AssignNumber(uint64_t number, std::string* value) {
  value->resize(kFoldedNumberBytes);
  for (size_t i = kFoldedNumberBytes; i-- > 0; number >>= 8)
    (*value)[i] = static_cast<char>(number);
}

}  // namespace

std::string FoldedNumber(int64_t number) {
  std::string value;
  AssignNumber(static_cast<uint64_t>(number), &value);
  return value;
}

std::string DeltaText(CellKind kind, std::string_view value) {
  if (!IsDeltaValue(kind, value))
    return fmt::format("an invalid aggregate cell of {} bytes", value.size());
  if (kind == CellKind::kHll)
    return fmt::format("hll {} bytes, about {:.0f}", value.size(), *EstimateHll(value));
  const std::string_view name = kind == CellKind::kSum   ? "sum"
                                : kind == CellKind::kMin ? "min"
                                                         : "max";
  return fmt::format("{} {}", name, static_cast<int64_t>(NumberOf(value)));
}

bool IsDeltaValue(CellKind kind, std::string_view value) {
  if (kind == CellKind::kHll) return value.size() <= kHllStateBytesMax && IsHllState(value);
  return IsDelta(kind) && value.size() == kFoldedNumberBytes;
}

void Fold::Start(CellKind kind) {
  kind_ = kind;
  is_empty_ = true;
  sketch_.Clear();
}

bool Fold::Add(std::string_view value) {
  if (kind_ == CellKind::kHll) return sketch_.Add(value);
  if (value.size() != kFoldedNumberBytes) return false;
  const uint64_t number = NumberOf(value);
  const auto is_less = static_cast<int64_t>(number) < static_cast<int64_t>(number_);
  if (is_empty_) {
    number_ = number;
  } else if (kind_ == CellKind::kSum) {
    number_ += number;
  } else if (is_less == (kind_ == CellKind::kMin)) {
    number_ = number;
  }
  is_empty_ = false;
  return true;
}

std::string_view Fold::Value() {
  value_.clear();
  if (kind_ == CellKind::kHll) {
    sketch_.AppendState(&value_);
  } else {
    AssignNumber(number_, &value_);
  }
  return value_;
}

}  // namespace stele::internal
