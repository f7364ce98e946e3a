#include "lab/trace/trace_reader.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kWaitingMax = 50'000;
constexpr size_t kWaitingBytesMax = size_t{32} << 20;

}  // namespace

bool TraceReader::Window::IsFull() const {
  return heap_.size() >= kWaitingMax || bytes_ >= kWaitingBytesMax;
}

void TraceReader::Window::Add(Waiting waiting) {
  bytes_ += waiting.bytes;
  heap_.push_back(std::move(waiting));
  std::push_heap(heap_.begin(), heap_.end(),
                 [](const Waiting& a, const Waiting& b) { return b.place < a.place; });
}

TraceReader::Waiting TraceReader::Window::Take() {
  std::pop_heap(heap_.begin(), heap_.end(),
                [](const Waiting& a, const Waiting& b) { return b.place < a.place; });
  Waiting first = std::move(heap_.back());
  heap_.pop_back();
  bytes_ -= first.bytes;
  left_micros_ = first.place.micros;
  return first;
}

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path,
                                                               bool skips_bad,
                                                               const std::stop_token& stop) {
  std::unique_ptr<TraceReader> reader(new TraceReader);
  STELE_RETURN_IF_ERROR(reader->FindLate(path, skips_bad, stop));
  STELE_ASSIGN_OR_RETURN(reader->input_, TraceInput::Open(path, {.skips_bad = skips_bad}));
  return reader;
}

absl::Status TraceReader::FindLate(const std::string& path, bool skips_bad,
                                   const std::stop_token& stop) {
  STELE_ASSIGN_OR_RETURN(const auto input, TraceInput::Open(path, {.skips_bad = skips_bad}));
  Window window;
  TraceRecord record;
  while (true) {
    const absl::StatusOr<bool> any = input->Next(&record);
    end_ = any.status();
    if (!any.ok() || !*any) break;
    if (stop.stop_requested()) return absl::CancelledError("the read of the trace was stopped");
    ++left_;
    while (window.IsFull()) window.Take();
    if (window.IsTooLate(record.micros)) {
      STELE_RETURN_IF_ERROR(internal::WithContext(late_.Add(record, input->number()), path));
      continue;
    }
    window.Add({.place = {.micros = record.micros, .number = input->number()},
                .bytes = input->record_bytes()});
  }
  skipped_lines_ = input->skipped_lines();
  is_complete_ = !end_.ok() || input->blocks() == nullptr || input->blocks()->is_complete();
  return internal::WithContext(late_.Finish(), path);
}

absl::Status TraceReader::FillWindow() {
  while (!window_.IsFull()) {
    if (left_ == 0) {
      at_end_ = true;
      return absl::OkStatus();
    }
    auto record = std::make_unique<TraceRecord>();
    STELE_ASSIGN_OR_RETURN(const bool any, input_->Next(record.get()));
    if (!any)
      return input_->WithPosition(internal::Aborted("the trace became shorter while it was read"));
    --left_;
    if (window_.IsTooLate(record->micros)) continue;  // the record is in late_
    const RecordSorter::Place place = {.micros = record->micros, .number = input_->number()};
    window_.Add({.place = place, .bytes = input_->record_bytes(), .record = std::move(record)});
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  if (!at_end_) STELE_RETURN_IF_ERROR(FillWindow());
  if (!late_.empty() && (window_.empty() || late_.first() < window_.first())) {
    STELE_RETURN_IF_ERROR(late_.Pop(record));
    return true;
  }
  if (window_.empty()) {
    STELE_RETURN_IF_ERROR(end_);
    return false;
  }
  *record = std::move(*window_.Take().record);
  return true;
}

}  // namespace stele::internal::lab
