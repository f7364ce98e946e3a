#include "admin/bulk_load.h"

#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "manifest/stack_edits.h"
#include "mutation/check.h"

namespace stele::internal {
namespace {

absl::Status TableIsGone() { return NotFound("the table was deleted"); }

// Returns an error if the files have cells of a family that was dropped meanwhile. Without it these
// cells would be lost silently.
absl::Status CheckFamilies(const std::vector<SstableFile>& files,
                           const TableDefinition& definition) {
  for (const SstableFile& file : files) {
    for (const FamilySummary& family : file.summary.families) {
      if (definition.families.IndexOfId(family.family_id)) continue;
      return FailedPrecondition(
          "a family was dropped while the bulk load ran, and rows from \"{}\" to \"{}\" have cells "
          "of it; load them again without it",
          Printable(file.summary.first_row), Printable(file.summary.last_row));
    }
  }
  return absl::OkStatus();
}

class Load : public ActiveBulkLoad {
 public:
  Load(const BulkLoadParts& parts, uint32_t table_id, std::shared_ptr<TableCounters> counters)
      : parts_(parts),
        table_id_(table_id),
        counters_(std::move(counters)),
        began_micros_(parts.clock->Now()),
        files_(parts.files) {}

  absl::Status Begin() {
    MutexLock lock(mutex_);
    STELE_RETURN_IF_ERROR(CheckUsable());
    return FollowSchema();
  }

  absl::Status Add(const RowMutation& mutation) {
    MutexLock lock(mutex_);
    STELE_RETURN_IF_ERROR(CheckUsable());
    STELE_RETURN_IF_ERROR(FollowSchema());
    const MutationSchema schema{.table_id = table_id_,
                                .families = &definition_->families,
                                .limits = definition_->schema.limits(),
                                .granularity = definition_->schema.granularity(),
                                .family_schemas = definition_->family_schemas};
    STELE_RETURN_IF_ERROR(ReadSetCells(mutation, schema, began_micros_, &cells_));
    if (row_count_ > 0 && mutation.row_key() <= last_row_key_) {
      return InvalidArgument(
          "row \"{}\" does not follow \"{}\": a bulk load needs rows in strictly ascending order",
          Printable(mutation.row_key()), Printable(last_row_key_));
    }
    if (!has_permit_ && !parts_.active->AcquirePermit()) {
      return ResourceExhausted(
          "{} bulk loads have rows already, the most that memory_budget_bytes allows; finish or "
          "abort one of them first",
          parts_.active->permit_count());
    }
    has_permit_ = true;
    if (absl::Status status = files_.AddRow(*definition_, mutation.row_key(), cells_);
        !status.ok()) {
      End(status);
      return status;
    }
    last_row_key_ = mutation.row_key();
    ++row_count_;
    return absl::OkStatus();
  }

  absl::Status Finish() {
    MutexLock lock(mutex_);
    const absl::Status status = Install();
    End(status.ok() ? FailedPrecondition("the bulk load is finished") : status);
    return status;
  }

  void Abort() {
    MutexLock lock(mutex_);
    End(FailedPrecondition("the bulk load was aborted"));
  }

  void EndAtClose() override {
    MutexLock lock(mutex_);
    End(FailedPrecondition(
        "the database was closed while the bulk load ran; its rows were discarded"));
  }

 private:
  absl::Status CheckUsable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    STELE_RETURN_IF_ERROR(over_);
    STELE_RETURN_IF_ERROR(parts_.gate->CheckWritable());
    return parts_.committer->poison();
  }

  // Updates the definition, so that rows are checked against the present schema, and new families
  // are accepted.
  absl::Status FollowSchema() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // Read before the view, so that the next call notices a later change.
    const uint64_t generation = parts_.committer->generation();
    if (definition_ != nullptr && generation == generation_) return absl::OkStatus();
    const std::shared_ptr<const ReadView> view = parts_.state->view();
    const TableView* table = view->Find(table_id_);
    if (table == nullptr) return TableIsGone();
    definition_ = table->state->definition;
    generation_ = generation;
    return absl::OkStatus();
  }

  absl::Status Install() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    STELE_RETURN_IF_ERROR(CheckUsable());
    STELE_RETURN_IF_ERROR(FollowSchema());
    if (row_count_ == 0) return absl::OkStatus();
    STELE_RETURN_IF_ERROR(files_.Finish());
    parts_.await_file_slot();
    may_be_referenced_ = true;
    // The files ascend by row.
    const KeyRange rows{files_.files().front().summary.first_row,
                        files_.files().back().summary.last_row + '\0', false};
    STELE_RETURN_IF_ERROR(parts_.admin->InstallFlushed(
        table_id_, rows, [this](const Version& version, const FlushedPoint& point) {
          mutex_.AssertHeld();
          return MakeEdit(version, point);
        }));
    is_installed_ = true;
    Count();
    return absl::OkStatus();
  }

  absl::StatusOr<Edit> MakeEdit(const Version& version, const FlushedPoint& point)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = version.tables.find(table_id_);
    if (it == version.tables.end()) return TableIsGone();
    STELE_RETURN_IF_ERROR(CheckFamilies(files_.files(), *it->second->definition));
    Edit edit;
    edit.new_files = files_.files();
    for (SstableFile& file : edit.new_files) file.newest_commit_time = point.commit_time;
    edit.last_sequence = point.sequence;
    edit.tables.push_back(
        {.table_id = table_id_,
         .flushed_through = point.sequence,
         .tablets = InstallFiles(*it->second, edit.new_files, point.sequence, point.sequence)});
    return edit;
  }

  // After a poisoned install the edit may be durable, so the files are kept.
  void End(absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!over_.ok()) return;
    over_ = std::move(why);
    const bool stay = is_installed_ || (may_be_referenced_ && !parts_.committer->poison().ok());
    if (!stay) files_.Remove();
    if (std::exchange(has_permit_, false)) parts_.active->ReleasePermit();
  }

  uint64_t LoadedBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    uint64_t bytes = 0;
    for (const SstableFile& file : files_.files()) bytes += file.summary.file_bytes;
    return bytes;
  }

  void Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const uint64_t bytes = LoadedBytes();
    counters_->writes.fetch_add(row_count_, std::memory_order_relaxed);
    parts_.jobs->bulk_loads.fetch_add(1, std::memory_order_relaxed);
    parts_.jobs->bytes_loaded.fetch_add(bytes, std::memory_order_relaxed);
    parts_.events->Report(
        DatabaseEvent::Kind::kBulkLoad,
        fmt::format("table {}: {} rows loaded as {} bytes", definition_->name, row_count_, bytes),
        bytes);
  }

  const BulkLoadParts parts_;
  const uint32_t table_id_;
  const std::shared_ptr<TableCounters> counters_;
  const int64_t began_micros_;  // the timestamp of cells without one
  Mutex mutex_;
  absl::Status over_ ABSL_GUARDED_BY(mutex_);  // why the load accepts no more rows
  std::shared_ptr<const TableDefinition> definition_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  LoadFiles files_ ABSL_GUARDED_BY(mutex_);
  std::string last_row_key_ ABSL_GUARDED_BY(mutex_);
  uint64_t row_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Cell> cells_ ABSL_GUARDED_BY(mutex_);  // scratch
  // The load holds a permit of parts_.active.
  bool has_permit_ ABSL_GUARDED_BY(mutex_) = false;
  bool may_be_referenced_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_installed_ ABSL_GUARDED_BY(mutex_) = false;
};

class LocalBulkLoad : public BulkLoadBackend {
 public:
  LocalBulkLoad(std::shared_ptr<const void> database, std::shared_ptr<Load> load)
      : database_(std::move(database)), load_(std::move(load)) {}
  ~LocalBulkLoad() override { load_->Abort(); }

  absl::Status Add(const RowMutation& mutation) override { return load_->Add(mutation); }
  absl::Status Finish() override { return load_->Finish(); }
  void Abort() override { load_->Abort(); }

 private:
  const std::shared_ptr<const void> database_;  // outlives the load
  const std::shared_ptr<Load> load_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BulkLoadBackend>> BeginBulkLoad(
    std::shared_ptr<const void> database, const BulkLoadParts& parts, uint32_t table_id,
    std::shared_ptr<TableCounters> counters) {
  auto load = std::make_shared<Load>(parts, table_id, std::move(counters));
  STELE_RETURN_IF_ERROR(load->Begin());
  parts.active->Add(load);
  return std::unique_ptr<BulkLoadBackend>(
      std::make_unique<LocalBulkLoad>(std::move(database), std::move(load)));
}

}  // namespace stele::internal
