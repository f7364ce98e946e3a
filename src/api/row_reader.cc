#include "stele/row_reader.h"

#include <utility>

#include "api/backend.h"
#include "base/status.h"

namespace stele {
inline namespace v0 {
namespace {

absl::Status Empty() { return internal::FailedPrecondition("row reader: an empty handle"); }

}  // namespace

RowReader::RowReader() : error_(Empty()) {}
RowReader::RowReader(std::unique_ptr<internal::RowSource> source) : source_(std::move(source)), error_(Empty()) {}
RowReader::RowReader(absl::Status error) : error_(std::move(error)) {}
RowReader::RowReader(RowReader&& other) noexcept
    : source_(std::move(other.source_)), error_(std::exchange(other.error_, Empty())), on_row_(other.on_row_), ended_(other.ended_) {
  other.on_row_ = false;
}
RowReader& RowReader::operator=(RowReader&& other) noexcept {
  source_ = std::move(other.source_);
  error_ = std::exchange(other.error_, Empty());
  on_row_ = std::exchange(other.on_row_, false);
  ended_ = other.ended_;
  return *this;
}
RowReader::~RowReader() = default;

bool RowReader::Next() {
  if (source_ == nullptr || ended_) return false;
  on_row_ = source_->Next();
  ended_ = !on_row_;
  return on_row_;
}

const RowView& RowReader::row() const {
  static const RowView none;
  return on_row_ ? source_->row() : none;
}

absl::Status RowReader::status() const { return source_ == nullptr ? error_ : source_->status(); }

ReadStats RowReader::stats() const { return source_ == nullptr ? ReadStats() : source_->stats(); }

}  // namespace v0
}  // namespace stele
