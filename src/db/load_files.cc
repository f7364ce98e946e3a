#include "db/load_files.h"

#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "compaction/run_writer.h"
#include "db/engine.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

constexpr uint64_t kBytesBetweenCharges = 64 << 10;  // adding up what a builder holds costs as much as adding a row to it

uint64_t BytesOf(std::string_view row_key, std::span<const Cell> cells) {
  uint64_t bytes = row_key.size();
  for (const Cell& cell : cells) bytes += cell.qualifier.size() + sizeof cell.timestamp + cell.value.size();
  return bytes;
}

}  // namespace

LoadFiles::LoadFiles(Engine* engine) : engine_(*engine), charge_(&engine->memory, MemoryBudget::Use::kJobs) {}

absl::Status LoadFiles::AddRow(const TableDefinition& definition, std::string_view row_key, std::span<const Cell> cells) {
  const bool is_full = raw_bytes_ >= engine_.options.sizes.load_file_bytes;
  if (builder_ != nullptr && (is_full || family_ids_ != definition.families.ids())) STELE_RETURN_IF_ERROR(CloseFile());
  if (builder_ == nullptr) STELE_RETURN_IF_ERROR(BeginFile(definition));
  raw_bytes_ += BytesOf(row_key, cells);
  STELE_RETURN_IF_ERROR(builder_->StartRow(row_key));
  STELE_RETURN_IF_ERROR(builder_->AddCells(cells));
  if (raw_bytes_ - charged_at_bytes_ >= kBytesBetweenCharges) {
    charge_.Set(builder_->memory_bytes());
    charged_at_bytes_ = raw_bytes_;
  }
  return absl::OkStatus();
}

absl::Status LoadFiles::BeginFile(const TableDefinition& definition) {
  number_ = engine_.NewFileNumber();
  family_ids_ = definition.families.ids();
  raw_bytes_ = 0;
  charged_at_bytes_ = 0;
  const std::string path = JoinPath(engine_.directory, SstableName(number_));
  STELE_ASSIGN_OR_RETURN(file_, engine_.file_system->Open(path, OpenMode::kCreate));
  // A load is written once and read for long, as what a major compaction leaves: hence its codec. Whoever loads waits: hence the effort.
  SstableBuilderOptions options = RunBuilderOptions(definition.schema.compression(), /*settled=*/true);
  options.zstd_effort = ZstdEffort::kQuick;
  options.file_id = RandomSeed();
  options.family_ids = family_ids_;
  if (engine_.options.background_threads > 0) options.beside = &side_;
  options.row_group_bytes = engine_.options.sizes.row_group_bytes;
  builder_ = std::make_unique<SstableBuilder>(file_.get(), std::move(options));
  return absl::OkStatus();
}

absl::Status LoadFiles::CloseFile() {
  STELE_ASSIGN_OR_RETURN(SstableSummary summary, builder_->Finish());
  STELE_RETURN_IF_ERROR(file_->Sync());
  files_.push_back({.number = number_, .summary = std::move(summary), .settled = true});
  builder_.reset();
  charge_.Set(0);
  file_.reset();
  return absl::OkStatus();
}

absl::Status LoadFiles::Seal() {
  if (builder_ != nullptr) STELE_RETURN_IF_ERROR(CloseFile());
  return files_.empty() ? absl::OkStatus() : engine_.file_system->SyncDirectory(engine_.directory);
}

void LoadFiles::Remove() {
  const auto remove = [this](uint64_t number) {
    engine_.file_system->Remove(JoinPath(engine_.directory, SstableName(number))).IgnoreError();
  };
  builder_.reset();
  charge_.Set(0);
  if (file_ != nullptr) {
    file_.reset();
    remove(number_);
  }
  for (const SstableFile& file : files_) remove(file.number);
}

}  // namespace stele::internal
