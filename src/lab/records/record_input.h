// records/record_input.h: the files of an input of a design.
//
// Errors:    InvalidArgument or NotFound, with the path.
// Threads:   values; thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/design/design_model.h"
#include "lab/dynamodb/export_directory.h"
#include "lab/input/file_stamp.h"
#include "lab/records/record_reader.h"

namespace stele::internal::lab {

// The paths of --input, by the name of the input.
using GivenInputs = std::map<std::string, std::string>;
// Returns an error if a path is given for an input that the design does not have.
absl::Status CheckGiven(const DesignModel& design, const GivenInputs& given);

class RecordInput {
 public:
  // Finds the files at `path`: one file, or the directory of an export of DynamoDB.
  static absl::StatusOr<RecordInput> Find(const DesignInput& input, const std::string& path);
  // Finds the files at the path of `given`, by the input's name, else at the path of the design.
  static absl::StatusOr<RecordInput> FindOf(const DesignModel& design, const DesignInput& input,
                                            const GivenInputs& given);

  // The file or directory that Find was given.
  const std::string& path() const { return path_; }
  size_t file_count() const { return files_.size(); }
  // The name of a file for messages.
  const std::string& file_name(size_t file) const { return files_[file].name; }
  absl::StatusOr<FileStamp> stamp(size_t file) const { return StampOf(files_[file].path); }
  // The size of all files.
  uint64_t stored_bytes() const;
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(size_t file) const;

 private:
  RecordInput() = default;

  std::string path_;
  RecordFormat format_ = RecordFormat::kCsv;
  std::vector<std::string> columns_;
  std::vector<DataFile> files_;
};

}  // namespace stele::internal::lab
