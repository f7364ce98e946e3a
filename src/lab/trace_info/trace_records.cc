#include <utility>

#include "base/status.h"
#include "lab/trace/trace_input.h"
#include "lab/trace_info/trace_output.h"
#include "stele/lab/trace.h"

namespace stele::internal::lab {
namespace {

using PublicRecord = stele::lab::TraceRecord;

// Moves the members that have the same name and type in both records.
template <typename From, typename To>
void MoveMembers(From* from, To* to) {
  to->micros = from->micros;
  to->table = std::move(from->table);
  to->row = std::move(from->row);
  to->keys = std::move(from->keys);
  to->start = std::move(from->start);
  to->end = std::move(from->end);
  to->last = std::move(from->last);
  to->is_reverse = from->is_reverse;
  to->limit = from->limit;
  to->filter = std::move(from->filter);
  to->families = std::move(from->families);
  to->rows_seen = from->rows_seen;
  to->rows_returned = from->rows_returned;
  to->cells_seen = from->cells_seen;
  to->cells_returned = from->cells_returned;
  to->bytes = from->bytes;
  to->bytes_read = from->bytes_read;
  to->cells = from->cells;
  to->columns = std::move(from->columns);
  to->increments = std::move(from->increments);
  to->batch = from->batch;
  to->call = from->call;
  to->latency_micros = from->latency_micros;
  to->status = std::move(from->status);
  to->tag = std::move(from->tag);
}

// Both enums have the same values.
PublicRecord ToPublic(TraceRecord record) {
  PublicRecord result;
  MoveMembers(&record, &result);
  result.op = static_cast<stele::lab::TraceOp>(record.op);
  if (!record.has_ranges) return result;
  result.ranges.emplace();
  for (TraceRecord::Range& range : record.ranges)
    result.ranges->push_back({std::move(range.start), std::move(range.end)});
  return result;
}

TraceRecord ToInternal(PublicRecord record, uint64_t sample) {
  TraceRecord result;
  MoveMembers(&record, &result);
  result.op = static_cast<TraceOp>(record.op);
  result.sample = sample;
  result.has_ranges = record.ranges.has_value();
  if (!result.has_ranges) return result;
  for (PublicRecord::Range& range : *record.ranges)
    result.ranges.push_back({std::move(range.start), std::move(range.end)});
  return result;
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

class TraceReader::State {
 public:
  explicit State(std::unique_ptr<internal::lab::TraceInput> opened) : input(std::move(opened)) {}

  const std::unique_ptr<internal::lab::TraceInput> input;
  bool has_begun = false;
};

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

absl::StatusOr<TraceReader> TraceReader::Open(const std::string& path, bool skips_bad) {
  STELE_ASSIGN_OR_RETURN(auto input,
                         internal::lab::TraceInput::Open(path, {.skips_bad = skips_bad}));
  return TraceReader(std::make_unique<State>(std::move(input)));
}

absl::StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  state_->has_begun = true;
  internal::TraceRecord next;
  STELE_ASSIGN_OR_RETURN(const bool any, state_->input->Next(&next));
  if (any) *record = internal::lab::ToPublic(std::move(next));
  return any;
}

uint64_t TraceReader::sample() const { return state_->has_begun ? state_->input->sample() : 1; }
uint64_t TraceReader::skipped_lines() const { return state_->input->skipped_lines(); }
bool TraceReader::is_complete() const {
  return state_->input->blocks() == nullptr || state_->input->blocks()->is_complete();
}

class TraceWriter::State {
 public:
  State(std::unique_ptr<internal::lab::TraceOutput> started, uint32_t trace_sample)
      : output(std::move(started)), sample(trace_sample) {}

  const std::unique_ptr<internal::lab::TraceOutput> output;
  const uint32_t sample;
  uint64_t records = 0;
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

absl::StatusOr<TraceWriter> TraceWriter::Start(TraceForm form,
                                               std::function<absl::Status(std::string_view)> write,
                                               uint32_t sample) {
  if (sample == 0) return internal::InvalidArgument("the sample of a trace must be at least 1");
  STELE_ASSIGN_OR_RETURN(auto output, internal::lab::StartOutput(form, sample, write));
  return TraceWriter(std::make_unique<State>(std::move(output), sample));
}

absl::Status TraceWriter::Add(const TraceRecord& record) {
  const internal::TraceRecord added = internal::lab::ToInternal(record, state_->sample);
  STELE_RETURN_IF_ERROR(state_->output->Add(added));
  ++state_->records;
  return absl::OkStatus();
}

absl::Status TraceWriter::Finish() {
  const internal::TraceCounts counts =
      internal::lab::CountsOfLines(state_->records, state_->sample);
  return state_->output->Finish(&counts);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
