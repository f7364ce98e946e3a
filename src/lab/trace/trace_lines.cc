#include "lab/trace/trace_lines.h"

#include <utility>

#include "base/status.h"
#include "lab/trace/trace_fields.h"

namespace stele::internal::lab {
namespace {

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

TraceLines::TraceLines(std::unique_ptr<InputFile> file, const Options& options)
    : lines_(std::move(file), kTraceLineBytesMax, simdjson::SIMDJSON_PADDING), options_(options) {}

absl::StatusOr<std::unique_ptr<TraceLines>> TraceLines::Open(const std::string& path,
                                                             const Options& options) {
  STELE_ASSIGN_OR_RETURN(auto file, InputFile::Open(path, false));
  return std::unique_ptr<TraceLines>(new TraceLines(std::move(file), options));
}

absl::Status TraceLines::WithPosition(const absl::Status& status) const {
  const absl::Status placed =
      internal::WithContext(status, fmt::format("{}:{}", lines_.file().path(), line_.number));
  if (status.code() != absl::StatusCode::kInvalidArgument) return placed;
  return internal::InvalidArgument("{} (--skip-bad leaves such lines out)",
                                   internal::ToStd(placed.message()));
}

absl::Status TraceLines::Parse(TraceRecord* record, bool* is_head) {
  if (line_.is_too_long)
    return internal::InvalidArgument("the line has more than {} bytes", kTraceLineBytesMax);
  simdjson::dom::element document;
  STELE_RETURN_IF_ERROR(parser_.Parse(line_.text, &document));
  simdjson::dom::object json;
  if (document.get(json) != simdjson::SUCCESS)
    return internal::InvalidArgument("not a JSON object");
  simdjson::dom::element version;
  *is_head = line_.number == 1 && json["trace"].get(version) == simdjson::SUCCESS;
  if (*is_head) return ReadTraceHead(json, &sample_);
  record->Clear();
  record->sample = sample_;
  return ReadTraceRecord(json, record);
}

absl::StatusOr<bool> TraceLines::Next(TraceRecord* record) {
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, lines_.Next(&line_));
    if (!any || (options_.is_growing && !line_.has_newline)) return false;
    if (IsBlank(line_.text)) continue;
    bool is_head = false;
    const absl::Status parsed = Parse(record, &is_head);
    if (parsed.ok() && !is_head) return true;
    if (parsed.ok()) continue;
    if (!options_.skips_bad || parsed.code() != absl::StatusCode::kInvalidArgument)
      return WithPosition(parsed);
    ++skipped_lines_;
  }
}

}  // namespace stele::internal::lab
