#include "db/checkpoint.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/random.h"
#include "base/status.h"
#include "db/checkpoint_target.h"
#include "db/engine.h"
#include "db/unsealed_deletes.h"
#include "flush/flush_job.h"
#include "io/file_names.h"
#include "manifest/manifest_files.h"
#include "manifest/stack_edits.h"

namespace stele::internal {
namespace {

constexpr uint64_t kNumbersOfLogAndManifest = 4;
constexpr size_t kCopyBytes = size_t{1} << 20;

uint64_t CheckpointId(uint64_t database_id) { return Checksum64("checkpoint", database_id); }

// A copy of "mem:" is on disk: nobody could open it in memory.
FileSystem* TargetOf(Engine& engine) {
  return engine.options.owned_file_system != nullptr ? PosixFileSystem() : engine.options.file_system;
}

class CheckpointWriter {
 public:
  CheckpointWriter(Engine& engine, std::string directory)
      : engine_(engine), fs_(TargetOf(engine)), directory_(std::move(directory)), point_(engine.TakeReadPoint()) {}

  absl::Status Write() {
    STELE_RETURN_IF_ERROR(Prepare());
    STELE_RETURN_IF_ERROR(ReserveNumbers());
    STELE_RETURN_IF_ERROR(BringFiles());
    version_ = *point_.view->version;
    version_.next_file_number = number_end_;
    version_.log_reach = {};
    version_.last_sequence = point_.sequence;
    version_.clock_mark = point_.now;
    for (const auto& [table_id, table] : point_.view->tables) {
      STELE_RETURN_IF_ERROR(BringMemtables(*table));
    }
    STELE_RETURN_IF_ERROR(fs_->SyncDirectory(directory_));
    STELE_RETURN_IF_ERROR(Switch());
    return RemoveWhatIsOld();
  }

 private:
  absl::Status Prepare() {
    STELE_ASSIGN_OR_RETURN(CheckpointTarget target, TakeCheckpointTarget(fs_, directory_, CheckpointId(engine_.database_id)));
    lock_ = std::move(target.lock);
    if (target.older == nullptr) return absl::OkStatus();
    const auto ours = point_.view->version->Files();
    for (const auto& [number, file] : target.older->Files()) {
      const auto it = ours.find(number);
      if (it == ours.end()) continue;
      if (it->second->summary.file_id != file->summary.file_id) {
        return FailedPrecondition("{} is a checkpoint of another course of this database; give an empty directory", directory_);
      }
      // One that is gone or was cut is brought again.
      const absl::StatusOr<FileInfo> info = fs_->Stat(JoinPath(directory_, SstableName(number)));
      if (info.ok() && info->bytes == file->summary.file_bytes) present_.insert(number);
    }
    return absl::OkStatus();
  }

  // The copy's own files take numbers that no file of the database ever gets, also after reopening: else a later checkpoint onto this one
  // would meet two files of one number. Nor do they take those of files that an opening of the older checkpoint left there.
  absl::Status ReserveNumbers() {
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(directory_));
    uint64_t next = engine_.next_file_number.load(std::memory_order_relaxed);
    const uint64_t file_number_end = FileNumberEnd(next);
    uint64_t least = 0;
    for (const std::string& name : names) {
      const std::optional<FileName> parsed = ParseFileName(name, file_number_end);
      if (parsed.has_value()) least = std::max(least, parsed->number + 1);
    }
    while (next < least && !engine_.next_file_number.compare_exchange_weak(next, least, std::memory_order_relaxed)) {
    }
    uint64_t count = kNumbersOfLogAndManifest;
    for (const auto& [table_id, table] : point_.view->tables) count += table->memtables.size();
    next_number_ = engine_.next_file_number.fetch_add(count, std::memory_order_relaxed);
    number_end_ = next_number_ + count;
    if (engine_.installer == nullptr) return absl::OkStatus();  // read-only: there will be no file
    return engine_.installer->Install([](const Version&) { return Edit(); });
  }

  absl::Status BringFiles() {
    for (const auto& [number, file] : point_.view->version->Files()) {
      needed_.insert(number);
      if (present_.contains(number)) continue;
      const std::string from = JoinPath(engine_.directory, SstableName(number));
      const std::string to = JoinPath(directory_, SstableName(number));
      if (absl::Status removed = fs_->Remove(to); !removed.ok() && removed.code() != absl::StatusCode::kNotFound) return removed;
      if (fs_ == engine_.options.file_system && engine_.file_system->Link(from, to).ok()) continue;
      STELE_RETURN_IF_ERROR(CopyFile(from, to));
    }
    return absl::OkStatus();
  }

  absl::Status CopyFile(const std::string& from, const std::string& to) {
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> in, engine_.file_system->Open(from, OpenMode::kRead));
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> out, fs_->Open(to, OpenMode::kCreate));
    STELE_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(kCopyBytes));
    for (uint64_t offset = 0;;) {
      STELE_ASSIGN_OR_RETURN(const size_t bytes, in->Read(offset, kCopyBytes, buffer.data()));
      if (bytes == 0) return out->Sync();
      STELE_RETURN_IF_ERROR(out->Write(offset, std::string_view(buffer.data(), bytes)));
      offset += bytes;
    }
  }

  // What the table's memtables hold up to the point becomes SSTables of the copy, oldest first.
  absl::Status BringMemtables(const TableView& table) {
    const uint32_t table_id = table.definition().id;
    auto state = std::make_shared<TableState>(*table.state);
    const int64_t files_commit_time = NewestInFiles(*state);
    for (auto it = table.memtables.rbegin(); it != table.memtables.rend(); ++it) {
      if ((*it)->empty()) continue;
      const FlushInput input{.file_system = fs_,
                             .directory = directory_,
                             .file_number = next_number_++,
                             .file_id = RandomSeed(),
                             .memtable = it->get(),
                             .sequence = point_.sequence,
                             .definition = table.state->definition,
                             .now = point_.now,
                             .newest_commit_time = std::next(it) == table.memtables.rend() ? point_.now : files_commit_time,
                             .newer_since = OldestCommitInMemtables(table, it->get()),
                             .row_group_bytes = engine_.options.sizes.row_group_bytes,
                             .budget = &engine_.memory};
      STELE_ASSIGN_OR_RETURN(const FlushOutput output, RunFlush(input));
      if (!output.file) continue;
      needed_.insert(output.file->number);
      const auto file = std::make_shared<const SstableFile>(*output.file);
      const uint64_t first = state->flushed_through + 1;
      const uint64_t last = std::min(point_.sequence, std::max(first, (*it)->last_sequence()));
      PushOnStacks(file, first, last, state.get());
      state->flushed_through = last;
    }
    state->flushed_through = std::max(state->flushed_through, point_.sequence);
    version_.tables[table_id] = std::move(state);
    return absl::OkStatus();
  }

  // Ranks in a memtable with newer ones above it are judged at a time that is surely before their commits (engine rule 9): when its own
  // newest one was, a view does not say.
  int64_t NewestInFiles(const TableState& state) const {
    int64_t newest = std::min<int64_t>(point_.now, 0);
    for (const Tablet& tablet : state.tablets) {
      for (const SstableReference& reference : tablet.stack) newest = std::max(newest, reference.file->newest_commit_time);
    }
    return newest;
  }

  static void PushOnStacks(const std::shared_ptr<const SstableFile>& file, uint64_t first, uint64_t last, TableState* state) {
    const KeyRange rows = internal::RowsOf(*file);
    for (Tablet& tablet : state->tablets) {
      if (!tablet.range.Overlaps(rows)) continue;
      tablet.stack.insert(tablet.stack.begin(), {.file = file, .range = tablet.range, .sequence_first = first, .sequence_last = last});
    }
  }

  // An empty log and a manifest that names it; CURRENT makes the copy a database, or the older checkpoint the newer one.
  absl::Status Switch() {
    const uint64_t id = CheckpointId(engine_.database_id);
    const auto log = CommitLog::Start({.file_system = fs_,
                                       .directory = directory_,
                                       .database_id = id,
                                       .segment_bytes = engine_.options.sizes.first_segment_bytes,
                                       .first_segment_bytes = engine_.options.sizes.first_segment_bytes,
                                       .next_file_number = [this] { return next_number_++; }},
                                      LogTail{.last_sequence = point_.sequence});
    STELE_RETURN_IF_ERROR(log.status());
    version_.oldest_segment = (*log)->oldest_segment();
    needed_.insert(version_.oldest_segment);
    manifest_number_ = next_number_++;
    STELE_ASSIGN_OR_RETURN(NewManifest manifest,
                           PrepareManifest(fs_, directory_, {.database_id = id, .number = manifest_number_}, version_));
    return InstallManifest(std::move(manifest)).status();
  }

  absl::Status RemoveWhatIsOld() {
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(directory_));
    for (const std::string& name : names) {
      const std::optional<FileName> parsed = ParseFileName(name, FileNumberEnd(number_end_));
      if (!parsed || parsed->type == FileType::kLock || parsed->type == FileType::kCurrent) continue;
      const bool stays = parsed->type == FileType::kManifest ? parsed->number == manifest_number_ : needed_.contains(parsed->number);
      if (!stays) STELE_RETURN_IF_ERROR(fs_->Remove(JoinPath(directory_, name)));
    }
    return fs_->SyncDirectory(directory_);
  }

  Engine& engine_;
  FileSystem* const fs_;  // of the copy
  const std::string directory_;
  const ReadPoint point_;  // pins the files that are linked
  std::unique_ptr<FileLock> lock_;
  std::set<uint64_t> present_;  // files the older checkpoint has
  std::set<uint64_t> needed_;
  uint64_t next_number_ = 0;
  uint64_t number_end_ = 0;
  uint64_t manifest_number_ = 0;
  Version version_;
};

}  // namespace

absl::Status WriteCheckpoint(Engine& engine, const std::string& directory) {
  STELE_RETURN_IF_ERROR(engine.CheckOpen());
  STELE_RETURN_IF_ERROR(engine.CheckProcess());
  return CheckpointWriter(engine, directory).Write();
}

}  // namespace stele::internal
