#include "manifest/manifest_log.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "base/buffer.h"
#include "base/mutex.h"
#include "base/status.h"
#include "io/file_names.h"
#include "manifest/current_file.h"
#include "manifest/edit_coding.h"
#include "manifest/edit_writer.h"
#include "manifest/manifest_files.h"
#include "manifest/manifest_format.h"
#include "manifest/manifest_reader.h"
#include "manifest/token_table.h"

namespace stele::internal {

namespace {

constexpr uint64_t kRewriteBytes = uint64_t{1} << 20;

}  // namespace

class ManifestLog::State {
 public:
  State(FileSystem* file_system, std::string directory, ManifestOptions options)
      : file_system_(file_system), directory_(std::move(directory)), options_(options) {}

  // Continues a manifest that recovery read.
  absl::Status Continue(const ManifestScan& scan, std::unique_ptr<File> file,
                        std::shared_ptr<const Version> version) {
    STELE_RETURN_IF_ERROR(MakeDurable(scan, file.get()));
    header_ = scan.header;
    file_ = std::move(file);
    end_offset_ = scan.end_offset;
    last_checksum_ = scan.last_checksum;
    closed_record_ = scan.closed;
    SetNextSwitch(scan.first_edit_end);
    version_ = std::move(version);
    PublishSyncedEnd();
    return absl::OkStatus();
  }
  // Writes the manifest `header` with a snapshot of `version`, and switches CURRENT to it.
  absl::Status Begin(const ManifestHeader& header, const Version& version) {
    STELE_ASSIGN_OR_RETURN(NewManifest prepared, Prepare(header, version));
    return Install(std::move(prepared));
  }

  absl::StatusOr<std::shared_ptr<const Version>> Append(const Edit& edit);
  absl::Status Close();

  std::shared_ptr<const Version> version() const { return version_; }
  const ManifestHeader& header() const { return header_; }
  bool poisoned() const { return !poison_.ok(); }
  SyncedEnd synced_end() const {
    MutexLock lock(mutex_);
    return synced_end_;
  }
  uint64_t snapshot_bytes() const { return snapshot_bytes_.load(std::memory_order_relaxed); }
  void SetSpaceIsScarce(std::function<bool()> space_is_scarce) {
    space_is_scarce_ = std::move(space_is_scarce);
  }
  void SetFileNumberSource(std::function<uint64_t()> source) {
    next_file_number_ = std::move(source);
  }

 private:
  absl::StatusOr<NewManifest> Prepare(const ManifestHeader& header, const Version& version);
  absl::Status Install(NewManifest prepared);
  absl::Status MakeDurable(const ManifestScan& scan, File* file) const;
  // Writes an edit and syncs it. `encode` passes its bytes to the writer.
  absl::Status WriteEdit(ManifestRecordType type,
                         const std::function<absl::Status(EditWriter*)>& encode);
  absl::Status Switch(const Version& version);
  // Call before a write. Begins a new manifest if a hard-linked copy of the database has this one,
  // too.
  absl::Status LeaveSharedFile();
  absl::Status Poison(absl::Status status) {
    poison_ = std::move(status);
    return poison_;
  }
  void PublishSyncedEnd() {
    MutexLock lock(mutex_);
    synced_end_ = {.number = header_.number, .bytes = end_offset_};
  }
  void SetNextSwitch(uint64_t snapshot_bytes) {
    snapshot_bytes_.store(snapshot_bytes, std::memory_order_relaxed);
    switch_at_bytes_ = std::max(options_.bytes_min, options_.snapshot_multiple * snapshot_bytes);
    scarce_switch_at_bytes_ = std::max(options_.bytes_min / 4, 2 * snapshot_bytes);
  }
  void RetrySwitchLater() {
    switch_at_bytes_ = end_offset_ + std::max(options_.bytes_min, snapshot_bytes());
    scarce_switch_at_bytes_ = end_offset_ + std::max(options_.bytes_min / 4, snapshot_bytes());
  }
  bool IsSwitchDue() const {
    return end_offset_ >= switch_at_bytes_ ||
           (end_offset_ >= scarce_switch_at_bytes_ && space_is_scarce_ && space_is_scarce_());
  }

  FileSystem* const file_system_;
  const std::string directory_;
  const ManifestOptions options_;
  ManifestHeader header_;
  std::unique_ptr<File> file_;
  uint64_t end_offset_ = 0;
  uint64_t last_checksum_ = 0;
  bool closed_record_ = false;  // the last record is an end mark
  bool is_own_file_ = false;    // known to have no other name
  bool closed_ = false;
  std::atomic<uint64_t> snapshot_bytes_ = 0;  // size of the manifest's first edit
  uint64_t switch_at_bytes_ = 0;
  uint64_t scarce_switch_at_bytes_ = 0;
  std::shared_ptr<const Version> version_;
  absl::Status poison_;
  std::function<uint64_t()> next_file_number_;
  std::function<bool()> space_is_scarce_;
  mutable Mutex mutex_;
  SyncedEnd synced_end_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<NewManifest> ManifestLog::State::Prepare(const ManifestHeader& header,
                                                        const Version& version) {
  // The snapshot contains the next number, so this one counts as used.
  auto numbered = std::make_shared<Version>(version);
  numbered->next_file_number = std::max(numbered->next_file_number, header.number + 1);
  STELE_ASSIGN_OR_RETURN(NewManifest prepared, PrepareManifest(file_system_, directory_, header,
                                                               *numbered, options_.part_bytes));
  version_ = std::move(numbered);
  return prepared;
}

absl::Status ManifestLog::State::Install(NewManifest prepared) {
  const ManifestHeader header = prepared.header;
  const uint64_t end_offset = prepared.end_offset;
  const uint64_t last_checksum = prepared.last_checksum;
  STELE_ASSIGN_OR_RETURN(file_, InstallManifest(std::move(prepared)));
  header_ = header;
  end_offset_ = end_offset;
  last_checksum_ = last_checksum;
  closed_record_ = false;
  is_own_file_ = true;
  SetNextSwitch(end_offset);
  PublishSyncedEnd();
  return absl::OkStatus();
}

// Makes the recovered edits durable. They may exist only in the system's page cache: if a sync
// failed in the process that wrote them, no later sync would write them. Everything before the last
// edit was synced before the last edit was written. A torn edit after it is cut off.
absl::Status ManifestLog::State::MakeDurable(const ManifestScan& scan, File* file) const {
  // The first edit was synced before CURRENT named the manifest.
  uint64_t offset = scan.edit_count == 1 ? scan.end_offset : scan.last_edit_offset;
  STELE_ASSIGN_OR_RETURN(
      Buffer bytes, Buffer::Allocate(std::min<uint64_t>(scan.end_offset - offset, kRewriteBytes)));
  while (offset < scan.end_offset) {
    const size_t wanted = std::min<uint64_t>(scan.end_offset - offset, bytes.size());
    STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(offset, wanted, bytes.data()));
    if (got < wanted) return Unavailable("{}: it was truncated while it was read", file->path());
    STELE_RETURN_IF_ERROR(file->Write(offset, {bytes.data(), wanted}));
    offset += wanted;
  }
  if (scan.discarded_bytes > 0) STELE_RETURN_IF_ERROR(file->Truncate(scan.end_offset));
  STELE_RETURN_IF_ERROR(file->Sync());
  return file_system_->SyncDirectory(directory_);  // the name CURRENT may not be durable either
}

absl::Status ManifestLog::State::WriteEdit(ManifestRecordType type,
                                           const std::function<absl::Status(EditWriter*)>& encode) {
  EditWriter writer(file_.get(), RecordSeed(header_), end_offset_, last_checksum_,
                    options_.part_bytes);
  absl::Status written = encode(&writer);
  if (written.ok()) written = writer.Finish(type);
  if (!written.ok()) {
    // The file may contain the complete edit although the write failed. The caller considers the
    // edit failed, so it must not reappear after a crash.
    absl::Status undone = file_->Truncate(end_offset_);
    if (undone.ok()) undone = file_->Sync();
    return undone.ok() ? written
                       : Poison(WithContext(written, "manifest write that could not be undone"));
  }
  if (const absl::Status synced = file_->Sync(); !synced.ok())
    return Poison(WithContext(synced, "manifest sync"));
  end_offset_ = writer.end_offset();
  last_checksum_ = writer.last_checksum();
  closed_record_ = type == ManifestRecordType::kEnd;
  PublishSyncedEnd();
  return absl::OkStatus();
}

// Returns an error only if the log is poisoned. If a switch cannot be prepared (a full disk), the
// old manifest continues and the switch is retried later.
absl::Status ManifestLog::State::Switch(const Version& version) {
  const std::string old_path = JoinPath(directory_, ManifestName(header_.number));
  const uint64_t next = std::max(version.next_file_number, header_.number + 1);
  const uint64_t number = next_file_number_ ? next_file_number_() : next;
  auto prepared = Prepare(
      {.database_id = header_.database_id, .number = number, .nonce = options_.nonce}, version);
  if (!prepared.ok()) {
    RetrySwitchLater();
    return absl::OkStatus();
  }
  if (const absl::Status installed = Install(*std::move(prepared)); !installed.ok()) {
    return Poison(WithContext(installed, "switch to a new manifest"));
  }
  // If this fails, the old manifest is an unneeded file that the next open removes.
  file_system_->Remove(old_path).IgnoreError();
  return absl::OkStatus();
}

absl::Status ManifestLog::State::LeaveSharedFile() {
  if (is_own_file_) return absl::OkStatus();
  const uint64_t number = header_.number;
  const std::string path = JoinPath(directory_, ManifestName(number));
  STELE_ASSIGN_OR_RETURN(const FileInfo info, file_system_->Stat(path));
  if (info.links > 1) {
    STELE_RETURN_IF_ERROR(Switch(*version_));
    if (header_.number == number) {
      return ResourceExhausted(
          "{}: it is shared with a hard-linked copy of the database, and a new manifest could not "
          "be written; free disk space, and see whether the directory can be written to",
          path);
    }
  }
  is_own_file_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Version>> ManifestLog::State::Append(const Edit& edit) {
  if (!poison_.ok()) return poison_;
  if (closed_) return FailedPrecondition("the manifest is closed");
  STELE_RETURN_IF_ERROR(LeaveSharedFile());
  STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const Version> next, Apply(*version_, edit));
  STELE_RETURN_IF_ERROR(CheckChanged(*version_, edit, *next));
  STELE_RETURN_IF_ERROR(WriteEdit(ManifestRecordType::kEdit, [&edit](EditWriter* writer) {
    return EncodeEdit(edit, [writer](std::string_view bytes) { return writer->Append(bytes); });
  }));
  const std::shared_ptr<const Version> before = std::exchange(version_, next);
  if (IsSwitchDue()) {
    if (const absl::Status switched = Switch(*next); !switched.ok()) {
      version_ = before;
      return switched;
    }
  }
  return version_;
}

absl::Status ManifestLog::State::Close() {
  if (!poison_.ok()) return poison_;
  if (closed_) return absl::OkStatus();
  closed_ = true;
  if (closed_record_) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(LeaveSharedFile());
  return WriteEdit(ManifestRecordType::kEnd, [](EditWriter*) { return absl::OkStatus(); });
}

ManifestLog::ManifestLog(std::unique_ptr<State> state) : state_(std::move(state)) {}
ManifestLog::~ManifestLog() = default;

namespace {

// Removes the files of an unfinished creation, which InspectDirectory has identified.
absl::Status RemoveLeftovers(FileSystem* file_system, const std::string& directory) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system->List(directory));
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name);
    if (!parsed.has_value() ||
        (parsed->type != FileType::kManifest && parsed->type != FileType::kTemporary))
      continue;
    STELE_RETURN_IF_ERROR(file_system->Remove(JoinPath(directory, name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Version>> ReplayManifest(const File& file,
                                                              std::string_view name,
                                                              ManifestScan* scan) {
  std::shared_ptr<const Version> version = std::make_shared<const Version>();
  const auto apply = [&version](Edit edit) -> absl::Status {
    STELE_ASSIGN_OR_RETURN(version, Apply(*version, std::move(edit)));
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(*scan, ReadManifest(file, name, apply));
  const absl::Status checked = CheckVersion(*version);
  if (!checked.ok()) return DataLoss(name, scan->end_offset, ToStd(checked.message()));
  return version;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ManifestLog>> ManifestLog::Create(
    FileSystem* file_system, std::string directory, uint64_t database_id, uint64_t number,
    const Version& initial, ManifestOptions options) {
  STELE_ASSIGN_OR_RETURN(const DirectoryState found, InspectDirectory(file_system, directory));
  if (found == DirectoryState::kMissing) return NotFound("{}: no such directory", directory);
  if (found == DirectoryState::kDatabase)
    return AlreadyExists("{} already holds a database", directory);
  if (initial.tables.size() > (initial.tables.contains(kTokenTableId) ? 1 : 0))
    return InvalidArgument("a new database begins without user tables");
  if (found == DirectoryState::kUnfinishedCreation)
    STELE_RETURN_IF_ERROR(RemoveLeftovers(file_system, directory));
  auto state = std::make_unique<State>(file_system, std::move(directory), options);
  STELE_RETURN_IF_ERROR(state->Begin(
      {.database_id = database_id, .number = number, .creation_mark = true, .nonce = options.nonce},
      initial));
  return std::unique_ptr<ManifestLog>(new ManifestLog(std::move(state)));
}

absl::StatusOr<ManifestLog::Recovered> ManifestLog::Recover(FileSystem* file_system,
                                                            std::string directory, bool read_only,
                                                            ManifestOptions options) {
  STELE_ASSIGN_OR_RETURN(const CurrentFile current, ReadCurrent(file_system, directory));
  const std::string name = ManifestName(current.manifest_number);
  auto file = file_system->Open(JoinPath(directory, name),
                                read_only ? OpenMode::kRead : OpenMode::kReadWrite);
  if (absl::IsNotFound(file.status()))
    return DataLoss(name, 0, "CURRENT names this manifest, and it is missing");
  if (!file.ok()) return file.status();
  ManifestScan scan;
  Recovered recovered;
  STELE_ASSIGN_OR_RETURN(recovered.version, ReplayManifest(**file, name, &scan));
  if (scan.header.database_id != current.database_id ||
      scan.header.number != current.manifest_number) {
    return DataLoss(
        name, 0,
        "the manifest belongs to another database, or its number differs from the one in CURRENT");
  }
  recovered.database_id = current.database_id;
  recovered.manifest_number = current.manifest_number;
  recovered.end_offset = scan.end_offset;
  recovered.discarded_bytes = scan.discarded_bytes;
  recovered.closed = scan.closed;
  if (read_only) return recovered;

  auto state = std::make_unique<State>(file_system, directory, options);
  STELE_RETURN_IF_ERROR(state->Continue(scan, *std::move(file), recovered.version));
  recovered.log.reset(new ManifestLog(std::move(state)));
  return recovered;
}

absl::StatusOr<std::shared_ptr<const Version>> ManifestLog::Append(const Edit& edit) {
  return state_->Append(edit);
}
std::shared_ptr<const Version> ManifestLog::version() const { return state_->version(); }
uint64_t ManifestLog::number() const { return state_->header().number; }
uint64_t ManifestLog::database_id() const { return state_->header().database_id; }
bool ManifestLog::poisoned() const { return state_->poisoned(); }
ManifestLog::SyncedEnd ManifestLog::synced_end() const { return state_->synced_end(); }
absl::Status ManifestLog::Close() { return state_->Close(); }
uint64_t ManifestLog::snapshot_bytes() const { return state_->snapshot_bytes(); }
void ManifestLog::SetSpaceIsScarce(std::function<bool()> space_is_scarce) {
  state_->SetSpaceIsScarce(std::move(space_is_scarce));
}
void ManifestLog::SetFileNumberSource(std::function<uint64_t()> next_file_number) {
  state_->SetFileNumberSource(std::move(next_file_number));
}

}  // namespace stele::internal
