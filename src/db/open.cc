// db/open.cc: opens and creates a database: inspects the directory, locks it, inspects it again,
// then creates or recovers. A directory that is not a database is refused before anything in it is
// changed.
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>
#include <utility>

#include "base/process_id.h"
#include "base/random.h"
#include "base/status.h"
#include "db/damage.h"
#include "db/recovery.h"
#include "db/storage.h"
#include "io/file_names.h"
#include "manifest/token_table.h"

namespace stele::internal {
namespace {

std::string HolderText() {
  utsname host{};
  ::uname(&host);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("pid {} ({}) on host {}, since {}", ProcessId(),
                     Printable(program_invocation_short_name), host.nodename,
                     Timestamp::From(now).ToString());
}

absl::Status TakeLock(Storage& storage) {
  FileSystem* const fs = storage.directory.file_system();
  const std::string path = storage.directory.PathOf(kLockName);
  const bool shared = storage.options.database.read_only;
  // A read-only open does not create the lock file. If the file does not exist, no process has the
  // database open for writing, since such a process creates it.
  if (shared && absl::IsNotFound(fs->Stat(path).status())) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<FileLock>> lock =
      fs->Lock(path, shared ? LockMode::kShared : LockMode::kExclusive, shared ? "" : HolderText());
  if (absl::IsPermissionDenied(lock.status())) {
    return MakeStatus(lock.status().code(),
                      fmt::format("{}; a process that opens {}{} must be able to {} this file: "
                                  "change its owner or its permissions",
                                  ToStd(lock.status().message()), storage.directory.path(),
                                  shared ? " with read_only" : "", shared ? "read" : "write"));
  }
  if (absl::IsFailedPrecondition(lock.status()))
    return WithContext(lock.status(),
                       fmt::format("{} is open elsewhere", storage.directory.path()));
  if (!lock.ok()) return WithContext(lock.status(), "opening " + storage.directory.path());
  storage.lock = *std::move(lock);
  return absl::OkStatus();
}

absl::Status RemoveAll(Storage& storage, uint64_t number_end,
                       const std::function<bool(const FileName&)>& goes) {
  FileSystem* fs = storage.directory.file_system();
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs->List(storage.directory.path()));
  bool removed = false;
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name, number_end);
    if (!parsed || !goes(*parsed)) continue;
    STELE_RETURN_IF_ERROR(fs->Remove(storage.directory.PathOf(name)));
    removed = true;
  }
  return removed ? fs->SyncDirectory(storage.directory.path()) : absl::OkStatus();
}

CommitLogOptions LogOptions(Storage& storage, bool may_begin_later) {
  return {
      .file_system = storage.directory.file_system(),
      .directory = storage.directory.path(),
      .database_id = storage.directory.id(),
      .segment_bytes = storage.options.sizes.segment_bytes,
      .first_segment_bytes = storage.options.sizes.first_segment_bytes,
      .may_begin_later = may_begin_later,
      .next_file_number = [&storage] { return storage.directory.NewFileNumber(); },
      .space_is_scarce = [&storage] { return storage.gate.SpaceIsScarce(); },
      .check_room = [&storage](uint64_t bytes) { return storage.gate.CheckRoomForSegment(bytes); },
      .synced_manifest_end = [manifest = storage.manifest.get()]() -> SyncedManifestEnd {
        const ManifestLog::SyncedEnd end = manifest->synced_end();
        return {.number = end.number, .bytes = end.bytes};
      }};
}

absl::Status StartLog(Storage& storage, const LogTail& tail, bool may_begin_later = false) {
  STELE_ASSIGN_OR_RETURN(storage.log, CommitLog::Start(LogOptions(storage, may_begin_later), tail));
  return absl::OkStatus();
}

// Creates the manifest, then CURRENT, which makes the directory a database, then the log. A crash
// before CURRENT leaves files that the next Open can start again from. The manifest names no
// segment yet; its first edit, before any commit, does.
absl::Status CreateFiles(Storage& storage) {
  storage.directory.SetId(RandomSeed());
  const uint64_t manifest_number = storage.directory.NewFileNumber();
  Version initial;
  initial.next_file_number = storage.directory.next_file_number();
  initial.clock_mark = storage.clock.CommitTime();
  initial.token_key = {.first = RandomSeed(), .second = RandomSeed()};
  initial.tables.Set(kTokenTableId, EmptyTokenTable());
  STELE_ASSIGN_OR_RETURN(
      storage.manifest,
      ManifestLog::Create(storage.directory.file_system(), storage.directory.path(),
                          storage.directory.id(), manifest_number, initial));
  storage.state.Install(storage.manifest->version(), std::nullopt);
  return StartLog(storage, LogTail{});
}

// Sets the next file number above the manifest's, above the log's last segment, and above every
// file whose number this database may have assigned since its last edit.
absl::Status RaiseFileNumber(Storage& storage, uint64_t from_manifest, uint64_t last_segment) {
  uint64_t next = std::max(from_manifest, last_segment + 1);
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         storage.directory.file_system()->List(storage.directory.path()));
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name, CountedFileNumberEnd(from_manifest));
    if (parsed.has_value()) next = std::max(next, parsed->number + 1);
  }
  storage.directory.RaiseFileNumber(next);
  return absl::OkStatus();
}

// Removes files that a crash or an earlier Close left: temporary files, spill files, SSTables that
// no edit references, and manifests and segments that are not needed.
absl::Status RemoveLeftovers(Storage& storage, const Version& version) {
  std::set<uint64_t> needed;
  for (const auto& [number, file] : version.Files()) needed.insert(number);
  return RemoveAll(storage, FileNumberEnd(version.next_file_number), [&](const FileName& name) {
    switch (name.type) {
      case FileType::kSpill:
      case FileType::kTemporary:
        return true;
      case FileType::kSstable:
        return !needed.contains(name.number);
      case FileType::kManifest:
        return name.number != storage.manifest->number();
      case FileType::kSegment:
        // There is no edit, hence no commit yet: a segment is left from a creation.
        return version.oldest_segment == 0 || name.number < version.oldest_segment;
      default:
        return false;
    }
  });
}

// Removes files that no edit ever named, whatever part of the manifest is durable: spill files,
// temporary files, and SSTables of unfinished jobs. They may be what fills the disk.
absl::Status RemoveUnfinished(Storage& storage, const Version& version) {
  return RemoveAll(
      storage, FileNumberEnd(version.next_file_number), [&version](const FileName& name) {
        const bool is_unfinished =
            name.type == FileType::kSstable && name.number >= version.next_file_number;
        return is_unfinished || name.type == FileType::kSpill || name.type == FileType::kTemporary;
      });
}

// Frees space for the files that opening writes: the log's first segment, and perhaps a manifest
// soon after.
void FreeSpaceForOpen(Storage& storage, uint64_t manifest_bytes) {
  constexpr uint64_t kOpenBytes = uint64_t{256} << 10;
  storage.reserve.Find();
  if (storage.reserve.FreeBytes() >= 2 * manifest_bytes + kOpenBytes) return;
  storage.gate.MakeRoom();
}

// Runs a step that writes. If there is no space for it although the disk has space, because a quota
// is used up, releases the reserve and runs the step again.
absl::Status RunWithReserve(Storage& storage, const std::function<absl::Status()>& step) {
  absl::Status status = step();
  if (FoundNoSpace(status) && storage.gate.MakeRoom()) status = step();
  return status;
}

// From here on the directory is changed: a torn end of the manifest and leftover files are removed,
// and the log is prepared for writing.
absl::Status PrepareForWriting(Storage& storage, const LogReadOptions& log_options,
                               const ReplayedLog& replayed) {
  STELE_ASSIGN_OR_RETURN(ManifestLog::Recovered recovered,
                         ManifestLog::Recover(storage.directory.file_system(),
                                              storage.directory.path(), /*read_only=*/false));
  storage.manifest = std::move(recovered.log);
  storage.manifest->SetFileNumberSource([&storage] { return storage.directory.NewFileNumber(); });
  storage.state.Install(recovered.version, std::nullopt);
  STELE_RETURN_IF_ERROR(
      RaiseFileNumber(storage, recovered.version->next_file_number, replayed.tail.segment_number));
  STELE_RETURN_IF_ERROR(RemoveLeftovers(storage, *recovered.version));
  // The log continues from the last sequence in the log, which its reader compares with each
  // segment. The last sequence of the database may be greater, because the log does not have those
  // of bulk loads.
  LogTail tail = replayed.tail;
  // The manifest names no segment, so the segment that the log was read from was a leftover.
  if (recovered.version->oldest_segment == 0)
    tail = LogTail{.last_sequence = replayed.last_sequence};
  // A file with a number that recovery did not count is a stray. The log must not use it as a spare
  // segment.
  std::erase_if(tail.spare_numbers, [&storage](uint64_t number) {
    return number >= storage.directory.next_file_number();
  });
  STELE_RETURN_IF_ERROR(SyncReplayedLog(log_options, tail));
  absl::Status started = RunWithReserve(storage, [&] { return StartLog(storage, tail); });
  if (!FoundNoSpace(started)) return started;
  // If the log's end mark does not state the manifest's end, no edit may follow: the next open
  // would report the manifest as damaged (CheckEnds).
  if (tail.clean && tail.closed_manifest_end == SyncedManifestEnd()) return started;
  // There is no space, even without the reserve. Open without a segment: the database can be read,
  // and edits that free space can be made.
  storage.gate.NoteFullDisk(started);
  return StartLog(storage, tail, /*may_begin_later=*/true);
}

// Reads everything before anything is changed, so that a database that is corrupt or incomplete
// stays as it was.
absl::StatusOr<ReplayedLog> RecoverFiles(Storage& storage) {
  STELE_ASSIGN_OR_RETURN(const ManifestLog::Recovered recovered, RecoverManifest(storage));
  storage.directory.SetId(recovered.database_id);
  const std::shared_ptr<const Version> version = recovered.version;
  if (!version->tables.contains(kTokenTableId)) {
    return DataLoss(ManifestName(recovered.manifest_number), 0,
                    "it has no table of idempotency tokens");
  }
  // A read-only database returns an error only for the rows of a missing file.
  if (!storage.options.database.read_only) {
    STELE_RETURN_IF_ERROR(
        CheckFiles(storage.directory.file_system(), storage.directory.path(), *version));
  }
  STELE_RETURN_IF_ERROR(RaiseFileNumber(storage, version->next_file_number, /*last_segment=*/0));
  storage.clock.RaiseMark(version->clock_mark);
  storage.state.Install(version, std::nullopt);
  storage.state.Publish(version->last_sequence);
  const LogReadOptions log_options = ReadOptionsOf(storage, *version);
  STELE_ASSIGN_OR_RETURN(ReplayedLog replayed, ReplayLog(storage, log_options));
  STELE_RETURN_IF_ERROR(CheckEnds(storage, recovered, replayed.tail));
  storage.replayed_log_files = replayed.tail.live_numbers.size();
  storage.replayed_log_bytes = replayed.bytes;
  storage.discarded_log_bytes = replayed.tail.discarded_bytes;
  if (storage.discarded_log_bytes > 0) {
    storage.events.Report(
        DatabaseEvent::Kind::kLogDiscarded,
        fmt::format("the log ended in {} bytes of an unfinished write; they were discarded",
                    storage.discarded_log_bytes),
        storage.discarded_log_bytes);
  }
  if (storage.options.database.read_only) return replayed;
  STELE_RETURN_IF_ERROR(RemoveUnfinished(storage, *version));
  FreeSpaceForOpen(storage, recovered.end_offset);
  STELE_RETURN_IF_ERROR(PrepareForWriting(storage, log_options, replayed));
  return replayed;
}

// Records the next file number in the manifest if recovery raised it by much. A stray file can
// raise it by 2^31. Without this edit, a later recovery would take the files that are made now for
// stray files.
absl::Status RecordFileNumber(Storage& storage) {
  const uint64_t recorded = storage.manifest->version()->next_file_number;
  if (storage.directory.next_file_number() < recorded + kRecordedFileNumberGap)
    return absl::OkStatus();
  return RunWithReserve(storage, [&storage] {
    return storage.installer->Install([](const Version&) { return Edit{}; }, std::nullopt);
  });
}

// Creates the directory if it is missing and may be created, and pins it
// (FileSystem::PinDirectory).
absl::StatusOr<std::shared_ptr<FileSystem>> ReachDirectory(const std::string& directory,
                                                           const EngineOptions& options) {
  FileSystem* const fs = options.file_system;
  STELE_ASSIGN_OR_RETURN(const DirectoryState state, InspectToOpen(fs, directory, options));
  const bool exists = state == DirectoryState::kDatabase;
  if (exists && options.database.error_if_exists)
    return AlreadyExists("{} contains a database, and error_if_exists is set", directory);
  if (!exists && (!options.database.create_if_missing || options.database.read_only)) {
    if (options.database.read_only) return NotFound("{} contains no database", directory);
    return NotFound("{} contains no database; open it with create_if_missing to create one",
                    directory);
  }
  if (state == DirectoryState::kMissing) {
    absl::Status made = fs->CreateDirectory(directory);
    if (!made.ok() && made.code() != absl::StatusCode::kAlreadyExists) return made;
    STELE_RETURN_IF_ERROR(fs->SyncDirectory(ParentDirectory(directory)));
  }
  return fs->PinDirectory(directory);
}

// Returns the replayed log; empty for a new database.
absl::StatusOr<ReplayedLog> OpenFiles(Storage& storage) {
  STELE_RETURN_IF_ERROR(TakeLock(storage));
  // Inspect again: another process may have created the database before this one got the lock.
  const std::string& path = storage.directory.path();
  STELE_ASSIGN_OR_RETURN(const DirectoryState state,
                         InspectToOpen(storage.directory.file_system(), path, storage.options));
  if (state != DirectoryState::kDatabase) {
    STELE_RETURN_IF_ERROR(CreateFiles(storage));
    return ReplayedLog{};
  }
  absl::StatusOr<ReplayedLog> replayed = RecoverFiles(storage);
  if (!replayed.ok()) return WithContext(replayed.status(), "opening " + path);
  storage.clock.Begin();
  return replayed;
}

// Makes the components that change the files, after these are recovered.
void MakeWriters(Storage& storage) {
  const EngineSizes& sizes = storage.options.sizes;
  storage.committer = std::make_unique<Committer>(
      &storage.state, storage.log.get(), &storage.clock,
      Committer::Limits{.memtable_bytes = sizes.memtable_bytes,
                        .active_bytes_max = sizes.write_memory_bytes / 2,
                        .log_bytes_max = sizes.log_bytes_max});
  storage.committer->StartAfter(storage.state.published_sequence());
  if (storage.options.database.read_only) return;
  storage.manifest->SetFileNumberSource([&storage] { return storage.directory.NewFileNumber(); });
  storage.manifest->SetSpaceIsScarce([&storage] { return storage.gate.SpaceIsScarce(); });
  storage.installer =
      std::make_unique<Installer>(Installer::Parts{.state = &storage.state,
                                                   .committer = storage.committer.get(),
                                                   .log = storage.log.get(),
                                                   .manifest = storage.manifest.get(),
                                                   .files = &storage.files,
                                                   .clock = &storage.clock,
                                                   .directory = &storage.directory,
                                                   .compaction = sizes.compaction});
  storage.installer->CountDebt();
  storage.jobs = std::make_unique<JobRunner>(
      JobRunner::Parts{.context = {.directory = &storage.directory,
                                   .memory = &storage.memory,
                                   .row_group_bytes = sizes.row_group_bytes},
                       .state = &storage.state,
                       .committer = storage.committer.get(),
                       .installer = storage.installer.get(),
                       .clock = &storage.clock,
                       .events = &storage.events,
                       .gate = &storage.gate,
                       .throttle = &storage.throttle});
}

}  // namespace

Storage::Storage(std::string path, EngineOptions options_in,
                 std::shared_ptr<FileSystem> held_directory)
    : options(std::move(options_in)),
      directory(std::move(path), options.file_system, std::move(held_directory)),
      open(options.database.read_only),
      events(options.database.on_event),
      clock(options.database.clock,
            [this](const std::string& message) {
              events.Report(DatabaseEvent::Kind::kClockJump, message);
            }),
      memory(options.database.memory_budget_bytes, options.sizes.uncharged_bytes,
             options.budget_member),
      cache(options.sizes.cache_bytes, &memory, options.sizes.cache_bytes_min),
      files(directory.file_system(), directory.path(), &cache),
      pins(&memory, options.sizes.pinned_memory_bytes, options.sizes.write_memory_bytes / 4),
      state(&files, &pins, &memory),
      reserve(directory.file_system(), directory.path(), options.sizes.reserve_bytes,
              options.sizes.memtable_bytes + options.sizes.segment_bytes),
      gate({.open = &open,
            .directory = &directory,
            .state = &state,
            .reserve = &reserve,
            .events = &events,
            .new_manifest_bytes =
                [this] { return manifest == nullptr ? 0 : manifest->snapshot_bytes(); }},
           options.sizes, options.background_threads > 0) {}

absl::StatusOr<std::unique_ptr<Storage>> OpenStorage(std::string path, EngineOptions options) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<FileSystem> held, ReachDirectory(path, options));
  auto storage = std::make_unique<Storage>(std::move(path), std::move(options), std::move(held));
  STELE_ASSIGN_OR_RETURN(const ReplayedLog replayed, OpenFiles(*storage));
  MakeWriters(*storage);
  if (storage->options.database.read_only) return storage;
  if (!replayed.complete) {
    STELE_RETURN_IF_ERROR(
        ReplayRest(*storage, ReadOptionsOf(*storage, *storage->manifest->version()), replayed));
  }
  STELE_RETURN_IF_ERROR(RecordFileNumber(*storage));
  ShortenLog(*storage);
  return storage;
}

}  // namespace stele::internal
