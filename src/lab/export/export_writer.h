// export/export_writer.h: writes a directory in the layout of DynamoDB's export to S3.
//
// Format:    AWSDynamoDB/ID/data/*.json.gz, manifest-files.json, manifest-summary.json, their MD5,
//            and _started. The summary is written last: a directory without it is no export.
// Errors:    errors of the file system.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/timestamp.h"

namespace stele::internal::lab {

class GzipFile;

class ExportWriter {
 public:
  // The limit for the compressed size of a data file. A file with a single line may exceed it.
  static constexpr uint64_t kDataFileBytesMax = uint64_t{64} << 20;

  // Creates the directory of the export below `directory`, which it creates if necessary.
  static absl::StatusOr<std::unique_ptr<ExportWriter>> Create(
      const std::string& directory, const std::string& table_name, Timestamp time,
      uint64_t data_file_bytes_max = kDataFileBytesMax);
  // Removes the directory of an export that was not finished.
  ~ExportWriter();

  // Adds a line, without its newline.
  absl::Status Add(std::string_view line);
  // Completes the export and makes it durable.
  absl::Status Finish();

 private:
  ExportWriter(std::string path, std::string existing, std::string id, std::string table_name,
               Timestamp time, uint64_t data_file_bytes_max);
  absl::Status StartFile();
  absl::Status FinishFile();
  absl::Status WriteSummary();
  absl::Status WriteManifest(const std::string& name, const std::string& text);

  const std::string path_;      // of the export
  const std::string existing_;  // the directory above it that existed before
  const std::string id_;
  const std::string table_name_;
  const Timestamp time_;
  const uint64_t data_file_bytes_max_;
  std::unique_ptr<GzipFile> file_;
  uint64_t file_items_ = 0;
  uint64_t file_count_ = 0;
  uint64_t item_sum_ = 0;
  std::string file_list_;  // manifest-files.json
  bool is_finished_ = false;
};

}  // namespace stele::internal::lab
