#include "admin/checkpoint_target.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/file_names.h"
#include "manifest/manifest_log.h"
#include "wal/log_reader.h"

namespace stele::internal {
namespace {

class TargetSearch {
 public:
  TargetSearch(FileSystem* file_system, const std::string& directory, uint64_t database_id)
      : fs_(file_system),
        directory_(directory),
        database_id_(database_id),
        mark_path_(JoinPath(directory, kCheckpointMarkName)),
        mark_text_(fmt::format(
            "a checkpoint with database id {:016x} was begun here and is not finished\n",
            database_id)) {}

  absl::StatusOr<CheckpointTarget> Take() {
    STELE_ASSIGN_OR_RETURN(DirectoryState state, Look());
    if (state == DirectoryState::kMissing) {
      const absl::Status made = fs_->CreateDirectory(directory_);
      if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
      STELE_RETURN_IF_ERROR(fs_->SyncDirectory(ParentDirectory(directory_)));
    }
    CheckpointTarget target;
    STELE_ASSIGN_OR_RETURN(target.lock,
                           fs_->Lock(JoinPath(directory_, kLockName), LockMode::kExclusive,
                                     "a checkpoint being written"));
    // Inspect the directory again: before the lock was held, another process may have written a
    // checkpoint or created a database there.
    STELE_ASSIGN_OR_RETURN(state, Look());
    if (state == DirectoryState::kDatabase) {
      STELE_ASSIGN_OR_RETURN(target.older, CheckOlder());
    } else {
      STELE_RETURN_IF_ERROR(RemoveUnfinished());
      STELE_RETURN_IF_ERROR(WriteMark());
    }
    return target;
  }

 private:
  // An unfinished checkpoint of this database counts as an unfinished creation.
  absl::StatusOr<DirectoryState> Look() const {
    absl::StatusOr<DirectoryState> state = InspectDirectory(fs_, directory_);
    if (!absl::IsFailedPrecondition(state.status())) return state;
    const absl::StatusOr<bool> unfinished = IsOurUnfinished();
    return unfinished.ok() && *unfinished ? DirectoryState::kUnfinishedCreation : state;
  }

  absl::StatusOr<bool> IsOurUnfinished() const {
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(directory_));
    for (const std::string& name : names) {
      const std::optional<FileName> parsed = ParseFileName(name);
      if (!parsed || parsed->type == FileType::kCurrent) return false;
    }
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> mark,
                           fs_->Open(mark_path_, OpenMode::kRead));
    std::string text(mark_text_.size() + 1, '\0');
    STELE_ASSIGN_OR_RETURN(const size_t bytes, mark->Read(0, text.size(), text.data()));
    return std::string_view(text).substr(0, bytes) == mark_text_;
  }

  // Removes everything except the lock. The mark is removed last, so that the rest is recognised
  // after a second crash.
  absl::Status RemoveUnfinished() const {
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(directory_));
    for (const std::string& name : names) {
      const std::string path = JoinPath(directory_, name);
      if (name != kLockName && path != mark_path_) STELE_RETURN_IF_ERROR(fs_->Remove(path));
    }
    return fs_->SyncDirectory(directory_);
  }

  absl::Status WriteMark() const {
    if (absl::Status removed = fs_->Remove(mark_path_); !removed.ok() && !absl::IsNotFound(removed))
      return removed;
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> mark,
                           fs_->Open(mark_path_, OpenMode::kCreate));
    STELE_RETURN_IF_ERROR(mark->Write(0, mark_text_));
    STELE_RETURN_IF_ERROR(mark->Sync());
    return fs_->SyncDirectory(directory_);
  }

  absl::StatusOr<std::shared_ptr<const Version>> CheckOlder() const {
    STELE_ASSIGN_OR_RETURN(const ManifestLog::Recovered older,
                           ManifestLog::Recover(fs_, directory_, /*read_only=*/true));
    if (older.database_id != database_id_) {
      return FailedPrecondition(
          "{} contains another database; use an empty directory or an older checkpoint of this one",
          directory_);
    }
    STELE_ASSIGN_OR_RETURN(const LogTail tail,
                           ReadLog({.file_system = fs_,
                                    .directory = directory_,
                                    .database_id = database_id_,
                                    .oldest_segment = older.version->oldest_segment},
                                   [](uint64_t, std::string_view) { return absl::OkStatus(); }));
    if (older.version->synced_log_end != SyncedLogEnd{} || tail.live_numbers.size() != 1) {
      return FailedPrecondition(
          "{} was opened for writing since it was made; use an empty directory", directory_);
    }
    return older.version;
  }

  FileSystem* const fs_;
  const std::string& directory_;
  const uint64_t database_id_;
  const std::string mark_path_;
  const std::string mark_text_;
};

}  // namespace

absl::StatusOr<CheckpointTarget> TakeCheckpointTarget(FileSystem* file_system,
                                                      const std::string& directory,
                                                      uint64_t database_id) {
  return TargetSearch(file_system, directory, database_id).Take();
}

}  // namespace stele::internal
