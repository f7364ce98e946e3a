#include "lab/records/record_input.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "lab/records/delimited_records.h"
#include "lab/records/tree_records.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kFileNameBytesMax = 4096;  // in messages

}  // namespace

absl::StatusOr<RecordInput> RecordInput::Find(const DesignInput& input, const std::string& path) {
  RecordInput found;
  found.path_ = path;
  found.columns_ = input.columns;
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(path, error);
  auto format = input.format.has_value() ? input.format
                : is_directory           ? RecordFormat::kDynamoDb
                                         : FormatOfFile(path);
  // A path that replaces the file of the design may have no ending.
  if (!format.has_value()) format = FormatOfFile(input.file);
  if (!format.has_value()) {
    return InvalidArgument(
        "the ending of {} states no format: add format to the input \"{}\" of the design",
        Printable(path, kFileNameBytesMax), input.name);
  }
  found.format_ = *format;
  if (is_directory) {
    if (*format != RecordFormat::kDynamoDb || !IsExportDirectory(path))
      return InvalidArgument("{} is a directory, and not that of an export of DynamoDB",
                             Printable(path, kFileNameBytesMax));
    STELE_ASSIGN_OR_RETURN(ExportDirectory directory, ReadExportDirectory(path, /*verifies=*/true));
    if (directory.is_incremental)
      return InvalidArgument("{} is an incremental export: its lines are changes, not items",
                             Printable(path, kFileNameBytesMax));
    found.files_ = std::move(directory.files);
  } else {
    found.files_.push_back({.path = path, .name = path, .md5 = "", .item_count = -1});
  }
  for (DataFile& file : found.files_) file.name = Printable(file.name, kFileNameBytesMax);
  return found;
}

absl::Status CheckGiven(const DesignModel& design, const GivenInputs& given) {
  for (const auto& [name, path] : given) {
    const bool is_known =
        std::any_of(design.inputs.begin(), design.inputs.end(),
                    [&name = name](const DesignInput& input) { return input.name == name; });
    if (!is_known)
      return InvalidArgument("{} has no input \"{}\"", ShownText(design.file), Printable(name));
  }
  return absl::OkStatus();
}

absl::StatusOr<RecordInput> RecordInput::FindOf(const DesignModel& design, const DesignInput& input,
                                                const GivenInputs& given) {
  const auto path = given.find(input.name);
  if (path != given.end()) return Find(input, path->second);
  if (input.file.empty())
    return InvalidArgument("the input \"{0}\" has no file: --input {0}=PATH gives one", input.name);
  // A path of the design is relative to the design.
  return Find(input, (std::filesystem::path(design.file).parent_path() / input.file).string());
}

uint64_t RecordInput::stored_bytes() const {
  uint64_t sum = 0;
  for (const DataFile& file : files_) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file.path, error);
    if (!error) sum += bytes;
  }
  return sum;
}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordInput::Open(size_t file) const {
  switch (format_) {
    case RecordFormat::kCsv:
      return DelimitedRecords::Open(files_[file].path, ',', columns_);
    case RecordFormat::kTsv:
      return DelimitedRecords::Open(files_[file].path, '\t', columns_);
    case RecordFormat::kJsonLines:
      return OpenJsonLines(files_[file].path);
    case RecordFormat::kDynamoDb:
      return OpenItems(files_[file]);
  }
  return InvalidArgument("an unknown format");
}

}  // namespace stele::internal::lab
