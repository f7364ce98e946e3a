#include "stele/row_reader.h"

#include <utility>

#include "api/backend.h"
#include "base/invariant.h"
#include "base/status.h"

namespace stele {
inline namespace v0 {

RowReader::RowReader() = default;
RowReader::RowReader(std::unique_ptr<internal::RowSource> source) : source_(std::move(source)) {}
RowReader::RowReader(absl::Status error) : error_(std::move(error)) {}
RowReader::RowReader(RowReader&& other) noexcept
    : source_(std::move(other.source_)),
      error_(std::exchange(other.error_, absl::OkStatus())),
      on_row_(std::exchange(other.on_row_, false)),
      ended_(std::exchange(other.ended_, false)),
      status_was_read_(other.status_was_read_) {}
RowReader& RowReader::operator=(RowReader&& other) noexcept {
  CheckStatusWasRead();
  std::unique_ptr<internal::RowSource> source = std::move(other.source_);
  internal::DestroyBackend(&source_);
  source_ = std::move(source);
  error_ = std::exchange(other.error_, absl::OkStatus());
  on_row_ = std::exchange(other.on_row_, false);
  ended_ = std::exchange(other.ended_, false);
  status_was_read_ = other.status_was_read_;
  return *this;
}
RowReader::~RowReader() {
  CheckStatusWasRead();
  internal::DestroyBackend(&source_);
}

// A scan that ends with an error and one that ends at the last row look the same to a loop that
// does not call status(). A forked child may drop its parent's readers without that call.
void RowReader::CheckStatusWasRead() const {
  if (source_ != nullptr && !source_->IsOfThisProcess()) return;
  STELE_INVARIANT(!ended_ || status_was_read_ || Outcome().ok());
}

// An empty handle has no source and no error. The message is made only when it is requested.
absl::Status RowReader::Outcome() const {
  if (source_ != nullptr) {
    STELE_RETURN_IF_ERROR(source_->CheckProcess());
    return source_->status();
  }
  return error_.ok() ? internal::FailedPrecondition("row reader: an empty handle") : error_;
}

bool RowReader::Next() {
  if (ended_) return false;
  on_row_ = source_ != nullptr && source_->IsOfThisProcess() && source_->Next();
  ended_ = !on_row_;
  return on_row_;
}

const RowView& RowReader::row() const {
  static const RowView none;
  return on_row_ ? source_->row() : none;
}

absl::Status RowReader::status() const {
  status_was_read_ = ended_;
  return Outcome();
}

ReadStats RowReader::stats() const { return source_ == nullptr ? ReadStats() : source_->stats(); }

}  // namespace v0
}  // namespace stele
