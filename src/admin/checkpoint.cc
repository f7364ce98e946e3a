#include "admin/checkpoint.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "admin/checkpoint_target.h"
#include "base/buffer.h"
#include "base/checksum.h"
#include "base/random.h"
#include "base/status.h"
#include "io/file_names.h"
#include "jobs/flush_job.h"
#include "manifest/manifest_files.h"
#include "manifest/stack_edits.h"
#include "views/gc_fence_horizon.h"

namespace stele::internal {
namespace {

constexpr uint64_t kNumbersOfLogAndManifest = 4;
constexpr size_t kCopyBytes = size_t{1} << 20;

uint64_t CheckpointId(uint64_t database_id) { return Checksum64("checkpoint", database_id); }

// Returns the file system of the copy. The copy of a "mem:" database is on disk, since a copy in
// memory could not be opened.
FileSystem* TargetOf(const EngineOptions& options) {
  return options.owned_file_system != nullptr ? PosixFileSystem() : options.file_system;
}

class CheckpointWriter {
 public:
  CheckpointWriter(const CheckpointSource& source, std::string directory,
                   const CheckpointOptions& options)
      : source_(source),
        fs_(TargetOf(*source.options)),
        directory_(std::move(directory)),
        stop_(options.stop),
        collection_time_(source.reads->CollectionTime()),
        point_(source.reads->TakeCommitPoint()) {}

  absl::Status Write() {
    STELE_RETURN_IF_ERROR(Prepare());
    STELE_RETURN_IF_ERROR(ReserveNumbers());
    STELE_RETURN_IF_ERROR(LinkOrCopyFiles());
    version_ = *point_.view->version;
    version_.next_file_number = number_end_;
    version_.synced_log_end = {};
    version_.last_sequence = point_.sequence;
    version_.clock_mark = point_.now;
    for (const auto& [table_id, table] : point_.view->tables) {
      STELE_RETURN_IF_ERROR(WriteMemtables(*table));
    }
    STELE_RETURN_IF_ERROR(fs_->SyncDirectory(directory_));
    STELE_RETURN_IF_ERROR(Switch());
    return RemoveOldFiles();
  }

 private:
  absl::Status Prepare() {
    STELE_ASSIGN_OR_RETURN(
        CheckpointTarget target,
        TakeCheckpointTarget(fs_, directory_, CheckpointId(source_.directory->id())));
    lock_ = std::move(target.lock);
    if (target.older == nullptr) return absl::OkStatus();
    const auto ours = point_.view->version->Files();
    for (const auto& [number, file] : target.older->Files()) {
      const auto it = ours.find(number);
      if (it == ours.end()) continue;
      if (it->second->summary.file_id != file->summary.file_id) {
        return FailedPrecondition(
            "{} is a checkpoint of a different history of this database; use an empty directory",
            directory_);
      }
      // A file that is missing or truncated is copied again.
      const absl::StatusOr<FileInfo> info = fs_->Stat(JoinPath(directory_, SstableName(number)));
      if (info.ok() && info->bytes == file->summary.file_bytes) present_.insert(number);
    }
    return absl::OkStatus();
  }

  // The copy's additional files get numbers that no file of the database ever gets, also after
  // reopening. Otherwise a later checkpoint onto this one would find two files with one number.
  // They also avoid the numbers of files that an open of the older checkpoint left there.
  absl::Status ReserveNumbers() {
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(directory_));
    uint64_t count = kNumbersOfLogAndManifest;
    for (const auto& [table_id, table] : point_.view->tables) count += table->memtables.size();
    if (source_.installer == nullptr) {
      TakeUnrecordedNumbers(names, count);
      return absl::OkStatus();
    }
    const uint64_t file_number_end = CountedFileNumberEnd(source_.directory->next_file_number());
    uint64_t least = 0;
    for (const std::string& name : names) {
      const std::optional<FileName> parsed = ParseFileName(name, file_number_end);
      if (parsed.has_value()) least = std::max(least, parsed->number + 1);
    }
    source_.directory->RaiseFileNumber(least);
    next_number_ = source_.directory->NewFileNumbers(count);
    number_end_ = next_number_ + count;
    return source_.installer->Install([](const Version&) { return Edit(); });
  }

  // A read-only database cannot record the numbers in its manifest. It takes random ones from a
  // range that its writers do not reach, and that their checkpoints do not count. So a file of the
  // database never gets one of them. `names` are the files that the copy has.
  void TakeUnrecordedNumbers(const std::vector<std::string>& names, uint64_t count) {
    const uint64_t next = point_.view->version->next_file_number;
    const uint64_t begin = CountedFileNumberEnd(next) + kUnrecordedFilesMax / 4;
    Random random(RandomSeed());
    const auto is_taken = [&](const std::string& name) {
      const std::optional<FileName> parsed = ParseFileName(name);
      return parsed.has_value() && parsed->number >= next_number_ && parsed->number < number_end_;
    };
    do {
      next_number_ = begin + random.Below(kUnrecordedFilesMax / 8);
      number_end_ = next_number_ + count;
    } while (std::any_of(names.begin(), names.end(), is_taken));
  }

  absl::Status CheckStop() const {
    if (!stop_.stop_requested()) return absl::OkStatus();
    return Cancelled("the checkpoint {} was stopped by its stop token", directory_);
  }

  absl::Status LinkOrCopyFiles() {
    for (const auto& [number, file] : point_.view->version->Files()) {
      STELE_RETURN_IF_ERROR(CheckStop());
      needed_.insert(number);
      if (present_.contains(number)) continue;
      const std::string from = source_.directory->PathOf(SstableName(number));
      const std::string to = JoinPath(directory_, SstableName(number));
      if (absl::Status removed = fs_->Remove(to);
          !removed.ok() && removed.code() != absl::StatusCode::kNotFound)
        return removed;
      if (fs_ == source_.options->file_system &&
          source_.directory->file_system()->Link(from, to).ok())
        continue;
      STELE_RETURN_IF_ERROR(CopyFile(from, to));
    }
    return absl::OkStatus();
  }

  absl::Status CopyFile(const std::string& from, const std::string& to) {
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> in,
                           source_.directory->file_system()->Open(from, OpenMode::kRead));
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> out, fs_->Open(to, OpenMode::kCreate));
    STELE_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(kCopyBytes));
    for (uint64_t offset = 0;;) {
      STELE_RETURN_IF_ERROR(CheckStop());
      STELE_ASSIGN_OR_RETURN(const size_t bytes, in->Read(offset, kCopyBytes, buffer.data()));
      if (bytes == 0) return out->Sync();
      STELE_RETURN_IF_ERROR(out->Write(offset, std::string_view(buffer.data(), bytes)));
      offset += bytes;
    }
  }

  // Writes the contents of the table's memtables up to the point to SSTables of the copy, oldest
  // first.
  absl::Status WriteMemtables(const TableView& table) {
    const uint32_t table_id = table.definition().id;
    auto state = std::make_shared<TableState>(*table.state);
    const int64_t files_commit_time = NewestInFiles(*state);
    for (auto it = table.memtables.rbegin(); it != table.memtables.rend(); ++it) {
      if ((*it)->empty()) continue;
      STELE_RETURN_IF_ERROR(CheckStop());
      const FlushInput input{.job = NewJob(),
                             .memtable = it->get(),
                             .sequence = point_.sequence,
                             .definition = table.state->definition,
                             .now = collection_time_,
                             .newest_commit_time = std::next(it) == table.memtables.rend()
                                                       ? point_.now
                                                       : files_commit_time,
                             .newer_since = OldestCommitInMemtables(table, it->get())};
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
    version_.tables.Set(table_id, std::move(state));
    return absl::OkStatus();
  }

  // Describes a file of the copy.
  SstableJob NewJob() {
    return {.file_system = fs_,
            .directory = directory_,
            .file_number = next_number_++,
            .file_id = RandomSeed(),
            .row_group_bytes = source_.options->sizes.row_group_bytes,
            .memory_tracker = source_.memory};
  }

  // For a memtable with newer memtables above it, ordinals are applied at a time that is certainly
  // before their commits (engine rule 9). A view does not have the time of the memtable's newest
  // commit.
  int64_t NewestInFiles(const TableState& state) const {
    int64_t newest = std::min<int64_t>(point_.now, 0);
    for (const Tablet& tablet : state.tablets) {
      for (const SstableReference& reference : tablet.stack)
        newest = std::max(newest, reference.file->newest_commit_time);
    }
    return newest;
  }

  static void PushOnStacks(const std::shared_ptr<const SstableFile>& file, uint64_t first,
                           uint64_t last, TableState* state) {
    const KeyRange rows = internal::RowsOf(*file);
    std::vector<SharedSequence<Tablet>::Change> changes;
    for (size_t i = state->TabletIndexOf(rows.start); i < state->tablets.size(); ++i) {
      Tablet tablet = state->tablets[i];
      if (tablet.range.start >= rows.end) break;
      tablet.stack.insert(
          tablet.stack.begin(),
          {.file = file, .range = tablet.range, .sequence_first = first, .sequence_last = last});
      changes.push_back(
          {.begin = i, .end = i + 1, .with = {std::make_shared<const Tablet>(std::move(tablet))}});
    }
    state->tablets.Replace(std::move(changes));
  }

  // Writes an empty log and a manifest that names it. CURRENT makes the copy a database, or
  // replaces the older checkpoint by the new one.
  absl::Status Switch() {
    const uint64_t id = CheckpointId(source_.directory->id());
    const auto log =
        CommitLog::Start({.file_system = fs_,
                          .directory = directory_,
                          .database_id = id,
                          .segment_bytes = source_.options->sizes.first_segment_bytes,
                          .first_segment_bytes = source_.options->sizes.first_segment_bytes,
                          .next_file_number = [this] { return next_number_++; }},
                         LogTail{.last_sequence = point_.sequence});
    STELE_RETURN_IF_ERROR(log.status());
    version_.oldest_segment = (*log)->oldest_segment();
    needed_.insert(version_.oldest_segment);
    manifest_number_ = next_number_++;
    STELE_ASSIGN_OR_RETURN(
        NewManifest manifest,
        PrepareManifest(fs_, directory_, {.database_id = id, .number = manifest_number_},
                        version_));
    return InstallManifest(std::move(manifest)).status();
  }

  absl::Status RemoveOldFiles() {
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(directory_));
    for (const std::string& name : names) {
      const std::optional<FileName> parsed = ParseFileName(name, FileNumberEnd(number_end_));
      if (!parsed || parsed->type == FileType::kLock || parsed->type == FileType::kCurrent)
        continue;
      const bool stays = parsed->type == FileType::kManifest ? parsed->number == manifest_number_
                                                             : needed_.contains(parsed->number);
      if (!stays) STELE_RETURN_IF_ERROR(fs_->Remove(JoinPath(directory_, name)));
    }
    return fs_->SyncDirectory(directory_);
  }

  const CheckpointSource& source_;
  FileSystem* const fs_;  // that of the copy
  const std::string directory_;
  const std::stop_token stop_;
  const int64_t collection_time_;
  const ReadPoint point_;  // pins the files that are linked
  std::unique_ptr<FileLock> lock_;
  std::set<uint64_t> present_;  // files in the older checkpoint
  std::set<uint64_t> needed_;
  uint64_t next_number_ = 0;
  uint64_t number_end_ = 0;
  uint64_t manifest_number_ = 0;
  Version version_;
};

}  // namespace

absl::Status WriteCheckpoint(const CheckpointSource& source, const std::string& directory,
                             const CheckpointOptions& options) {
  STELE_RETURN_IF_ERROR(source.open->CheckOpen());
  STELE_RETURN_IF_ERROR(source.open->CheckProcess());
  if (!source.log_damages->empty()) {
    return FailedPrecondition(
        "{} is damaged, and a checkpoint would lack what is lost; restore an older checkpoint, or "
        "copy the rows that can be read",
        source.directory->PathOf(source.log_damages->front().file));
  }
  return CheckpointWriter(source, directory, options).Write();
}

}  // namespace stele::internal
