#include "db/bulk_load.h"

#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "db/engine.h"
#include "db/load_files.h"
#include "db/open_loads.h"
#include "db/schema_change.h"
#include "manifest/stack_edits.h"
#include "mutation/check.h"

namespace stele::internal {
namespace {

absl::Status TableIsGone() { return NotFound("the table was deleted"); }

// A cell of a family that is not there any more would be lost without a word.
absl::Status CheckFamilies(const std::vector<SstableFile>& files, const TableDefinition& definition) {
  for (const SstableFile& file : files) {
    for (const FamilySummary& family : file.summary.families) {
      if (definition.families.RankOfId(family.family_id)) continue;
      return FailedPrecondition(
          "a family was dropped while the bulk load ran, and rows from \"{}\" to \"{}\" have cells of it; load them again without it",
          Printable(file.summary.first_row), Printable(file.summary.last_row));
    }
  }
  return absl::OkStatus();
}

class Load : public OpenLoad {
 public:
  Load(Engine* engine, uint32_t table_id, std::shared_ptr<TableCounters> counters)
      : engine_(*engine), table_id_(table_id), counters_(std::move(counters)), began_micros_(engine->clock.Now()), files_(engine) {}

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
      return InvalidArgument("row \"{}\" does not follow \"{}\": a bulk load takes rows in strictly ascending order",
                             Printable(mutation.row_key()), Printable(last_row_key_));
    }
    if (!has_place_ && !engine_.loads.TakePlace()) {
      return ResourceExhausted(
          "as many bulk loads ({}) as memory_budget_bytes has room for have rows already; finish or abort one of them first",
          engine_.loads.places());
    }
    has_place_ = true;
    if (absl::Status status = files_.AddRow(*definition_, mutation.row_key(), cells_); !status.ok()) {
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
    End(FailedPrecondition("the database was closed while the bulk load ran; nothing of it was kept"));
  }

 private:
  absl::Status CheckUsable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    STELE_RETURN_IF_ERROR(over_);
    STELE_RETURN_IF_ERROR(engine_.CheckWritable());
    return engine_.committer->poison();
  }

  // The table as it is now: what it refuses is refused at once, and new families are taken.
  absl::Status FollowSchema() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const uint64_t generation = engine_.committer->generation();  // read first: a change after it is noticed by the next call
    if (definition_ != nullptr && generation == generation_) return absl::OkStatus();
    const std::shared_ptr<const ReadView> view = engine_.state.view();
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
    STELE_RETURN_IF_ERROR(files_.Seal());
    may_be_referenced_ = true;
    STELE_RETURN_IF_ERROR(InstallFlushed(engine_, table_id_, KeyRange::All(), [this](const Version& version, const FlushedMoment& moment) {
      mutex_.AssertHeld();
      return MakeEdit(version, moment);
    }));
    is_installed_ = true;
    Count();
    return absl::OkStatus();
  }

  absl::StatusOr<Edit> MakeEdit(const Version& version, const FlushedMoment& moment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = version.tables.find(table_id_);
    if (it == version.tables.end()) return TableIsGone();
    STELE_RETURN_IF_ERROR(CheckFamilies(files_.files(), *it->second->definition));
    Edit edit;
    edit.new_files = files_.files();
    for (SstableFile& file : edit.new_files) file.newest_commit_time = moment.now;
    edit.last_sequence = moment.sequence;
    edit.tables.push_back({.table_id = table_id_,
                           .flushed_through = moment.sequence,
                           .tablets = InstallFiles(*it->second, edit.new_files, moment.sequence, moment.sequence)});
    return edit;
  }

  // After a poisoned install the edit may be durable all the same: then the files stay.
  void End(absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!over_.ok()) return;
    over_ = std::move(why);
    const bool stay = is_installed_ || (may_be_referenced_ && !engine_.committer->poison().ok());
    if (!stay && engine_.CheckProcess().ok()) files_.Remove();
    if (std::exchange(has_place_, false)) engine_.loads.GiveBackPlace();
  }

  void Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    uint64_t bytes = 0;
    for (const SstableFile& file : files_.files()) bytes += file.summary.file_bytes;
    counters_->writes.fetch_add(row_count_, std::memory_order_relaxed);
    JobCounters& jobs = engine_.background->counters();
    jobs.bulk_loads.fetch_add(1, std::memory_order_relaxed);
    jobs.bytes_loaded.fetch_add(bytes, std::memory_order_relaxed);
    engine_.events.Report(Event::Kind::kBulkLoad, fmt::format("table {}: {} rows loaded as {} bytes", definition_->name, row_count_, bytes),
                          bytes);
  }

  Engine& engine_;
  const uint32_t table_id_;
  const std::shared_ptr<TableCounters> counters_;
  const int64_t began_micros_;  // what cells without a timestamp get
  Mutex mutex_;
  absl::Status over_ ABSL_GUARDED_BY(mutex_);  // why nothing more is taken
  std::shared_ptr<const TableDefinition> definition_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  LoadFiles files_ ABSL_GUARDED_BY(mutex_);
  std::string last_row_key_ ABSL_GUARDED_BY(mutex_);
  uint64_t row_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Cell> cells_ ABSL_GUARDED_BY(mutex_);  // scratch
  bool has_place_ ABSL_GUARDED_BY(mutex_) = false;   // among those that hold memory
  bool may_be_referenced_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_installed_ ABSL_GUARDED_BY(mutex_) = false;
};

class LocalBulkLoad : public BulkLoadBackend {
 public:
  LocalBulkLoad(std::shared_ptr<Engine> engine, std::shared_ptr<Load> load) : engine_(std::move(engine)), load_(std::move(load)) {}
  // In a fork the load is its parent's, and its mutex may be held by a thread that is not there.
  ~LocalBulkLoad() override {
    if (engine_->CheckProcess().ok()) load_->Abort();
  }

  absl::Status Add(const RowMutation& mutation) override { return load_->Add(mutation); }
  absl::Status Finish() override { return load_->Finish(); }
  void Abort() override { load_->Abort(); }

 private:
  const std::shared_ptr<Engine> engine_;  // outlives the load
  const std::shared_ptr<Load> load_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BulkLoadBackend>> BeginBulkLoad(std::shared_ptr<Engine> engine, uint32_t table_id,
                                                               std::shared_ptr<TableCounters> counters) {
  auto load = std::make_shared<Load>(engine.get(), table_id, std::move(counters));
  STELE_RETURN_IF_ERROR(load->Begin());
  engine->loads.Add(load);
  return std::unique_ptr<BulkLoadBackend>(std::make_unique<LocalBulkLoad>(std::move(engine), std::move(load)));
}

}  // namespace stele::internal
