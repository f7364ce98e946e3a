#include "lab/trace/trace_reader.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kTraceLineBytesMax = size_t{64} << 20;
constexpr size_t kWaitingMax = 50'000;
constexpr size_t kWaitingBytesMax = size_t{32} << 20;

}  // namespace

TraceReader::TraceReader(std::unique_ptr<InputFile> file, bool skips_bad)
    : lines_(std::move(file), kTraceLineBytesMax, simdjson::SIMDJSON_PADDING),
      skips_bad_(skips_bad) {}

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path,
                                                               bool skips_bad) {
  STELE_ASSIGN_OR_RETURN(auto file, InputFile::Open(path, false));
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(file), skips_bad));
}

bool TraceReader::IsLater(const Waiting& a, const Waiting& b) {
  return a.record.micros != b.record.micros ? a.record.micros > b.record.micros : a.line > b.line;
}

// Returns false for the head of the trace.
absl::StatusOr<bool> TraceReader::ParseLine(const InputLine& line, Waiting* waiting) {
  if (line.is_too_long)
    return internal::InvalidArgument("the line has more than {} bytes", kTraceLineBytesMax);
  STELE_ASSIGN_OR_RETURN(const bool is_record,
                         parser_.Parse(line.text, line.number == 1, &waiting->record));
  if (!is_record) return false;
  if (waiting->record.micros < returned_micros_)
    return internal::InvalidArgument("the time is more than {} lines too late", kWaitingMax);
  waiting->line = line.number;
  waiting->bytes = line.text.size();
  return true;
}

absl::StatusOr<bool> TraceReader::ReadLine() {
  InputLine line;
  STELE_ASSIGN_OR_RETURN(const bool any, lines_.Next(&line));
  if (!any) return false;
  Waiting waiting;
  const auto is_record = ParseLine(line, &waiting);
  if (!is_record.ok() && skips_bad_ &&
      is_record.status().code() == absl::StatusCode::kInvalidArgument) {
    ++skipped_;
    return true;
  }
  if (!is_record.ok())
    return internal::WithContext(is_record.status(),
                                 fmt::format("{}:{}", lines_.file().path(), line.number));
  if (!*is_record) return true;
  waiting_bytes_ += waiting.bytes;
  waiting_.push_back(std::move(waiting));
  std::push_heap(waiting_.begin(), waiting_.end(), IsLater);
  return true;
}

absl::StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  while (!at_end_ && waiting_.size() < kWaitingMax && waiting_bytes_ < kWaitingBytesMax) {
    STELE_ASSIGN_OR_RETURN(const bool any, ReadLine());
    at_end_ = !any;
  }
  if (waiting_.empty()) return false;
  std::pop_heap(waiting_.begin(), waiting_.end(), IsLater);
  *record = std::move(waiting_.back().record);
  waiting_bytes_ -= waiting_.back().bytes;
  waiting_.pop_back();
  returned_micros_ = record->micros;
  return true;
}

}  // namespace stele::internal::lab
