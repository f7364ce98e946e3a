#include "lab/trace/trace_input.h"

#include <simdjson.h>

#include <string_view>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

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

}  // namespace

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

absl::StatusOr<bool> TraceInput::NextInBlocks(TraceRecord* record) {
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, blocks_->Next(record));
    if (!any) return false;
    ++number_;
    const absl::Status checked = CheckTexts(*record);
    if (checked.ok()) return true;
    if (!options_.skips_bad) return Within(checked);
    ++wrong_;
  }
}

absl::StatusOr<bool> TraceInput::Next(TraceRecord* record) {
  STELE_ASSIGN_OR_RETURN(const bool any,
                         lines_ != nullptr ? lines_->Next(record) : NextInBlocks(record));
  if (!any) return false;
  record_bytes_ =
      (lines_ != nullptr ? lines_->line_bytes() : blocks_->record_bytes()) + ListBytes(*record);
  return true;
}

uint64_t TraceInput::skipped() const {
  return lines_ != nullptr ? lines_->skipped() : blocks_->damaged() + wrong_;
}

absl::Status TraceInput::Within(const absl::Status& status) const {
  return lines_ != nullptr
             ? lines_->Within(status)
             : internal::WithContext(status, fmt::format("{}: operation {}", path_, number_));
}

}  // namespace stele::internal::lab
