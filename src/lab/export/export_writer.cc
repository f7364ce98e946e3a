#include "lab/export/export_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "io/file_names.h"
#include "io/file_system.h"
#include "lab/export/gzip_file.h"
#include "lab/input/md5.h"
#include "lab/mapping/lab_json.h"

namespace stele::internal::lab {
namespace {

// An upper bound of the bytes that the compressor has read and not yet written.
constexpr uint64_t kHeldBackBytes = uint64_t{256} << 10;
constexpr std::string_view kExportsDirectory = "AWSDynamoDB";

absl::Status WriteWhole(const std::string& path, std::string_view text) {
  STELE_ASSIGN_OR_RETURN(const auto file, PosixFileSystem()->Open(path, OpenMode::kCreate));
  STELE_RETURN_IF_ERROR(file->Write(0, text));
  return file->Sync();
}

// Returns the directory, or the nearest one above it that exists.
std::string ExistingDirectory(std::string directory) {
  std::error_code error;
  while (directory != "." && directory != "/" && !std::filesystem::exists(directory, error))
    directory = ParentDirectory(directory);
  return directory;
}

}  // namespace

ExportWriter::ExportWriter(std::string path, std::string existing, std::string id,
                           std::string table_name, Timestamp time, uint64_t data_file_bytes_max)
    : path_(std::move(path)),
      existing_(std::move(existing)),
      id_(std::move(id)),
      table_name_(std::move(table_name)),
      time_(time),
      data_file_bytes_max_(data_file_bytes_max) {}

ExportWriter::~ExportWriter() {
  if (is_finished_) return;
  file_.reset();
  std::error_code ignored;  // what stays has no summary, so it is no export
  std::filesystem::remove_all(path_, ignored);
}

absl::StatusOr<std::unique_ptr<ExportWriter>> ExportWriter::Create(const std::string& directory,
                                                                   const std::string& table_name,
                                                                   Timestamp time,
                                                                   uint64_t data_file_bytes_max) {
  const std::string id = fmt::format("{:014}-{:08x}", time.micros() / 1000,
                                     static_cast<uint32_t>(time.micros()) * uint32_t{2654435761});
  const std::string path = fmt::format("{}/{}/{}", directory, kExportsDirectory, id);
  std::string existing = ExistingDirectory(directory);
  std::error_code error;
  std::filesystem::create_directories(path + "/data", error);
  if (error) return ErrnoStatus("create the directory", path, error.value());
  STELE_RETURN_IF_ERROR(WriteWhole(path + "/_started", ""));
  return std::unique_ptr<ExportWriter>(
      new ExportWriter(path, std::move(existing), id, table_name, time, data_file_bytes_max));
}

absl::Status ExportWriter::StartFile() {
  STELE_ASSIGN_OR_RETURN(
      file_, GzipFile::Create(fmt::format("{}/data/{:08}.json.gz", path_, file_count_)));
  file_items_ = 0;
  return absl::OkStatus();
}

absl::Status ExportWriter::Add(std::string_view line) {
  const bool may_be_full =
      file_ != nullptr &&
      file_->stored_bytes() + line.size() + kHeldBackBytes > data_file_bytes_max_;
  if (may_be_full) STELE_RETURN_IF_ERROR(FinishFile());
  if (file_ == nullptr) STELE_RETURN_IF_ERROR(StartFile());
  STELE_RETURN_IF_ERROR(file_->Add(line));
  STELE_RETURN_IF_ERROR(file_->Add("\n"));
  ++file_items_;
  return absl::OkStatus();
}

absl::Status ExportWriter::FinishFile() {
  STELE_ASSIGN_OR_RETURN(const std::string md5, file_->Finish());
  file_list_ += fmt::format(
      "{{\"itemCount\":{},\"md5Checksum\":\"{}\",\"etag\":\"\",\"dataFileS3Key\":"
      "\"{}/{}/data/{:08}.json.gz\"}}\n",
      file_items_, md5, kExportsDirectory, id_, file_count_);
  item_sum_ += file_items_;
  ++file_count_;
  file_.reset();
  return absl::OkStatus();
}

absl::Status ExportWriter::WriteManifest(const std::string& name, const std::string& text) {
  STELE_RETURN_IF_ERROR(WriteWhole(fmt::format("{}/{}.md5", path_, name), Md5Base64(text)));
  return WriteWhole(fmt::format("{}/{}.json", path_, name), text);
}

absl::Status ExportWriter::WriteSummary() {
  std::string arn;
  AppendJsonString("arn:aws:dynamodb:local:000000000000:table/" + table_name_, &arn);
  const std::string time = time_.ToString();
  return WriteManifest(
      "manifest-summary",
      fmt::format("{{\"version\":\"2020-06-30\",\"exportArn\":{0},\"startTime\":\"{1}\","
                  "\"endTime\":\"{1}\",\"tableArn\":{0},\"exportTime\":\"{1}\",\"s3Prefix\":null,"
                  "\"manifestFilesS3Key\":\"{2}/{3}/manifest-files.json\",\"itemCount\":{4},"
                  "\"outputFormat\":\"DYNAMODB_JSON\",\"exportType\":\"FULL_EXPORT\"}}",
                  arn, time, kExportsDirectory, id_, item_sum_));
}

absl::Status ExportWriter::Finish() {
  if (file_ != nullptr) STELE_RETURN_IF_ERROR(FinishFile());
  STELE_RETURN_IF_ERROR(WriteManifest("manifest-files", file_list_));
  STELE_RETURN_IF_ERROR(WriteSummary());
  STELE_RETURN_IF_ERROR(PosixFileSystem()->SyncDirectory(path_ + "/data"));
  // Create() may have made the directories above, up to the one that existed. Sync each of them,
  // since it has the name of the next one.
  std::string directory = path_;
  STELE_RETURN_IF_ERROR(PosixFileSystem()->SyncDirectory(directory));
  while (directory != existing_) {
    directory = ParentDirectory(directory);
    STELE_RETURN_IF_ERROR(PosixFileSystem()->SyncDirectory(directory));
  }
  is_finished_ = true;
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
