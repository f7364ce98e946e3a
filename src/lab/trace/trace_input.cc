#include "lab/trace/trace_input.h"

#include <simdjson.h>

#include <algorithm>
#include <string_view>

#include "base/status.h"
#include "lab/trace/trace_fields.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kTraceKeyBytesMax = 65'535;

// Reads the first bytes of a file, as many as there are.
absl::Status ReadFirstBytes(InputFile* file, std::string* bytes) {
  size_t done = 0;
  while (done < bytes->size()) {
    STELE_ASSIGN_OR_RETURN(const size_t got,
                           file->Read(bytes->data() + done, bytes->size() - done));
    if (got == 0) break;
    done += got;
  }
  bytes->resize(done);
  return absl::OkStatus();
}

// The memory of lists, whose items may have few bytes in the file.
size_t ListBytes(const TraceRecord& record) {
  return (record.keys.size() + record.increments.size() + record.columns.size() +
          (record.families.has_value() ? record.families->size() : 0)) *
             sizeof(std::string) +
         record.ranges.size() * sizeof(TraceRecord::Range);
}

bool IsValidUtf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

// JSON lines have these members only as text.
absl::Status CheckTexts(const TraceRecord& record) {
  if (!IsValidUtf8(record.table))
    return internal::InvalidArgument("the name of the table is not UTF-8: {}",
                                     internal::Printable(record.table));
  if (!IsValidUtf8(record.status))
    return internal::InvalidArgument("the status is not UTF-8: {}",
                                     internal::Printable(record.status));
  return absl::OkStatus();
}

bool IsTooLong(const std::optional<std::string>& key) {
  return key.has_value() && key->size() > kTraceKeyBytesMax;
}

absl::Status CheckRowKeys(const TraceRecord& record) {
  // A call that failed may have had an empty row key.
  if (record.is_point() && record.op != TraceOp::kMget && record.row.empty() &&
      record.status.empty())
    return internal::InvalidArgument("a {} needs the member \"row\", and not an empty one",
                                     TraceOpName(record.op));
  const bool has_long =
      record.row.size() > kTraceKeyBytesMax || IsTooLong(record.start) || IsTooLong(record.end) ||
      IsTooLong(record.last) ||
      std::any_of(record.keys.begin(), record.keys.end(),
                  [](const std::string& key) { return key.size() > kTraceKeyBytesMax; }) ||
      std::any_of(record.ranges.begin(), record.ranges.end(),
                  [](const auto& range) { return IsTooLong(range.start) || IsTooLong(range.end); });
  if (has_long)
    return internal::InvalidArgument("a row key has more than {} bytes", kTraceKeyBytesMax);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTraceRecord(const TraceRecord& record) {
  if (record.micros < 0)
    return internal::InvalidArgument("the time {} is not a number of microseconds since 1970",
                                     record.micros);
  if (record.op > TraceOp::kDrop)
    return internal::InvalidArgument("a trace has no operation with the number {}",
                                     static_cast<int>(record.op));
  STELE_RETURN_IF_ERROR(CheckRowKeys(record));
  return CheckTexts(record);
}

absl::StatusOr<std::unique_ptr<TraceInput>> TraceInput::Open(const std::string& path,
                                                             const Options& options) {
  std::unique_ptr<TraceInput> input(new TraceInput(path, options));
  std::string first(kTraceMagic.size(), '\0');
  {
    STELE_ASSIGN_OR_RETURN(const auto file, InputFile::Open(path, false));
    STELE_RETURN_IF_ERROR(ReadFirstBytes(file.get(), &first));
  }
  if (first != kTraceMagic) {
    STELE_ASSIGN_OR_RETURN(input->lines_, TraceLines::Open(path, options));
    return input;
  }
  STELE_ASSIGN_OR_RETURN(auto opened, InputFile::Open(path, false));
  auto blocks = TraceBlocks::Open([file = std::shared_ptr<InputFile>(std::move(opened))](
                                      char* out, size_t bytes) { return file->Read(out, bytes); });
  if (!blocks.ok()) return internal::WithContext(blocks.status(), path);
  input->blocks_ = *std::move(blocks);
  return input;
}

absl::StatusOr<bool> TraceInput::Next(TraceRecord* record) {
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any,
                           lines_ != nullptr ? lines_->Next(record) : blocks_->Next(record));
    if (!any) return false;
    ++number_;
    absl::Status checked = CheckRowKeys(*record);
    if (checked.ok() && lines_ == nullptr) checked = CheckTexts(*record);
    if (checked.ok()) break;
    if (!options_.skips_bad) return WithPosition(checked);
    ++wrong_;
  }
  record_bytes_ =
      (lines_ != nullptr ? lines_->line_bytes() : blocks_->record_bytes()) + ListBytes(*record);
  return true;
}

uint64_t TraceInput::skipped_lines() const {
  return (lines_ != nullptr ? lines_->skipped_lines() : blocks_->damaged()) + wrong_;
}

absl::Status TraceInput::WithPosition(const absl::Status& status) const {
  if (lines_ != nullptr) return lines_->WithPosition(status);
  return internal::WithContext(status, fmt::format("{}: operation {}", path_, number_));
}

}  // namespace stele::internal::lab
