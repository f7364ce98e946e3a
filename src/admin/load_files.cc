#include "admin/load_files.h"

#include <utility>

#include "base/status.h"
#include "io/file_names.h"
#include "manifest/edit.h"

namespace stele::internal {
namespace {

// Computing a builder's memory costs as much as adding a row to it.
constexpr uint64_t kBytesBetweenCharges = 64 << 10;

uint64_t BytesOf(std::string_view row_key, std::span<const Cell> cells) {
  uint64_t bytes = row_key.size();
  for (const Cell& cell : cells)
    bytes += cell.qualifier.size() + sizeof cell.timestamp + cell.value.size();
  return bytes;
}

}  // namespace

LoadFiles::LoadFiles(const LoadFilesOptions& options)
    : options_(options), charge_(options.context.memory, MemoryTracker::Use::kJobs) {}

absl::Status LoadFiles::AddRow(const TableDefinition& definition, std::string_view row_key,
                               std::span<const Cell> cells) {
  const bool is_full = raw_bytes_ >= options_.file_bytes;
  if (builder_ != nullptr && (is_full || family_ids_ != definition.families.ids()))
    STELE_RETURN_IF_ERROR(CloseFile());
  if (builder_ == nullptr) STELE_RETURN_IF_ERROR(BeginFile(definition));
  raw_bytes_ += BytesOf(row_key, cells);
  STELE_RETURN_IF_ERROR(builder_->StartRow(row_key));
  STELE_RETURN_IF_ERROR(builder_->AddCells(cells));
  if (raw_bytes_ - charged_at_bytes_ >= kBytesBetweenCharges) {
    if (options_.check_room) STELE_RETURN_IF_ERROR(options_.check_room());
    charge_.Set(builder_->memory_bytes());
    charged_at_bytes_ = raw_bytes_;
  }
  return absl::OkStatus();
}

absl::Status LoadFiles::BeginFile(const TableDefinition& definition) {
  if (options_.check_room) STELE_RETURN_IF_ERROR(options_.check_room());
  job_ = options_.context.NewJob(/*stop=*/nullptr);
  family_ids_ = definition.families.ids();
  raw_bytes_ = 0;
  charged_at_bytes_ = 0;
  const std::string path = JoinPath(job_.directory, SstableName(job_.file_number));
  STELE_ASSIGN_OR_RETURN(file_, job_.file_system->Open(path, OpenMode::kCreate));
  // The codec is that of a major compaction, because the data is written once and read for a long
  // time. The effort is low, because the caller of the load waits.
  SstableBuilderOptions options =
      job_.BuilderOptions(definition.schema.compression(), /*bottommost_codec=*/true);
  options.zstd_effort = ZstdEffort::kQuick;
  options.family_ids = family_ids_;
  const uint64_t sequence = options_.newest_sequence();
  options.edit = EncodeFileEdit(definition, job_.file_number,
                                {{KeyRange::All(), sequence, sequence}}, /*flushed_through=*/0);
  if (options_.may_use_thread) options.compression_executor = &compression_executor_;
  builder_ = std::make_unique<SstableBuilder>(file_.get(), std::move(options));
  return absl::OkStatus();
}

absl::Status LoadFiles::CloseFile() {
  STELE_ASSIGN_OR_RETURN(SstableSummary summary, builder_->Finish());
  STELE_RETURN_IF_ERROR(file_->Sync());
  files_.push_back(
      {.number = job_.file_number, .summary = std::move(summary), .bottommost_codec = true});
  builder_.reset();
  charge_.Set(0);
  file_.reset();
  return absl::OkStatus();
}

absl::Status LoadFiles::Finish() {
  if (builder_ != nullptr) STELE_RETURN_IF_ERROR(CloseFile());
  return files_.empty() ? absl::OkStatus() : job_.file_system->SyncDirectory(job_.directory);
}

void LoadFiles::Remove() {
  const auto remove = [this](uint64_t number) {
    job_.file_system->Remove(JoinPath(job_.directory, SstableName(number))).IgnoreError();
  };
  builder_.reset();
  charge_.Set(0);
  if (file_ != nullptr) {
    file_.reset();
    remove(job_.file_number);
  }
  for (const SstableFile& file : files_) remove(file.number);
}

}  // namespace stele::internal
