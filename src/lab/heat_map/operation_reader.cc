#include "lab/heat_map/operation_reader.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kKnownTablesMax = 1'001;
constexpr uint64_t kLinesPerProgress = 8'192;

}  // namespace

OperationReader::OperationReader(const stele::lab::HeatMapInput& input,
                                 const stele::lab::HeatMapOptions& options)
    : paths_(input.trace_paths),
      options_(options),
      from_(options.from.has_value() ? options.from->micros() : INT64_MIN),
      to_(options.to.has_value() ? options.to->micros() : INT64_MAX) {}

bool OperationReader::IsSelected(const TraceRecord& record) const {
  return record.micros >= from_ && (record.micros < to_ || !options_.to.has_value()) &&
         (options_.table.empty() || record.table == options_.table) &&
         (!options_.tag.has_value() || record.tag == *options_.tag);
}

void OperationReader::NoteTable(const std::string& table) {
  if (last_table_ != nullptr && *last_table_ == table) return;
  auto known = tables_.find(table);
  if (known == tables_.end()) {
    if (tables_.size() == kKnownTablesMax) return;
    known = tables_.insert(table).first;
  }
  last_table_ = &*known;
}

absl::Status OperationReader::ReadTrace(size_t trace, const Visit& visit) {
  STELE_ASSIGN_OR_RETURN(const auto input,
                         TraceInput::Open(paths_[trace], {.skips_bad = options_.skips_bad,
                                                          .is_growing = options_.is_growing}));
  const bool is_first = records_.size() == trace;
  TraceRecord record;
  uint64_t count = 0;
  while (is_first || count < records_[trace]) {
    STELE_ASSIGN_OR_RETURN(const bool any, input->Next(&record));
    if (!any) break;
    if (++lines_ % kLinesPerProgress == 0 && options_.progress != nullptr)
      options_.progress(lines_);
    ++count;
    if (is_first) NoteTable(record.table);
    if (IsSelected(record)) STELE_RETURN_IF_ERROR(visit(record));
  }
  if (is_first) records_.push_back(count);
  skipped_lines_ += input->skipped_lines();
  return absl::OkStatus();
}

absl::Status OperationReader::ForEach(const Visit& visit) {
  const bool is_first = records_.empty();
  const uint64_t skipped_lines_before = skipped_lines_;
  for (size_t trace = 0; trace < paths_.size(); ++trace)
    STELE_RETURN_IF_ERROR(ReadTrace(trace, visit));
  if (!is_first) skipped_lines_ = skipped_lines_before;  // these lines are counted already
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
