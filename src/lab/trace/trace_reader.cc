#include "lab/trace/trace_reader.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kWaitingMax = 50'000;
constexpr size_t kWaitingBytesMax = size_t{32} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path,
                                                               bool skips_bad) {
  STELE_ASSIGN_OR_RETURN(auto input, TraceInput::Open(path, {.skips_bad = skips_bad}));
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(input), skips_bad));
}

bool TraceReader::IsLater(const Waiting& a, const Waiting& b) {
  return a.record.micros != b.record.micros ? a.record.micros > b.record.micros
                                            : a.number > b.number;
}

absl::StatusOr<bool> TraceReader::ReadRecord() {
  Waiting waiting;
  STELE_ASSIGN_OR_RETURN(const bool any, input_->Next(&waiting.record));
  if (!any) return false;
  if (waiting.record.micros < returned_micros_) {
    if (!skips_bad_)
      return input_->Within(
          internal::InvalidArgument("the time is more than {} operations too late", kWaitingMax));
    ++skipped_;
    return true;
  }
  waiting.number = input_->number();
  waiting.bytes = input_->record_bytes();
  waiting_bytes_ += waiting.bytes;
  waiting_.push_back(std::move(waiting));
  std::push_heap(waiting_.begin(), waiting_.end(), IsLater);
  return true;
}

absl::StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  while (!at_end_ && waiting_.size() < kWaitingMax && waiting_bytes_ < kWaitingBytesMax) {
    const absl::StatusOr<bool> any = ReadRecord();
    end_ = any.status();
    at_end_ = !any.ok() || !*any;
  }
  if (waiting_.empty()) {
    STELE_RETURN_IF_ERROR(end_);
    return false;
  }
  std::pop_heap(waiting_.begin(), waiting_.end(), IsLater);
  *record = std::move(waiting_.back().record);
  waiting_bytes_ -= waiting_.back().bytes;
  waiting_.pop_back();
  returned_micros_ = record->micros;
  return true;
}

}  // namespace stele::internal::lab
