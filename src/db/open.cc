// db/open.cc: opening and creating a database: look, lock, look again, then create or recover. A directory that is not a database is
// refused before anything in it is touched.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "db/recovery.h"
#include "io/file_names.h"
#include "manifest/token_table.h"

namespace stele::internal {
namespace {

std::string HolderText() {
  utsname host{};
  ::uname(&host);
  const int64_t now = Timestamp::From(std::chrono::system_clock::now()).micros();
  return fmt::format("pid {} on host {}, since {} (seconds since 1970)", ::getpid(), host.nodename, now / 1'000'000);
}

absl::Status TakeLock(Engine& engine) {
  FileSystem* const fs = engine.file_system;
  const std::string path = JoinPath(engine.directory, kLockName);
  const bool shared = engine.options.database.read_only;
  // A reader makes no file. Without this one nobody has the database open for writing: a writer makes it.
  if (shared && absl::IsNotFound(fs->Stat(path).status())) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<FileLock>> lock =
      fs->Lock(path, shared ? LockMode::kShared : LockMode::kExclusive, shared ? "" : HolderText());
  if (absl::IsPermissionDenied(lock.status())) {
    return MakeStatus(
        lock.status().code(),
        fmt::format("{}; who opens {}{} must be able to {} this file: give it to that user, or change its rights",
                    ToStd(lock.status().message()), engine.directory, shared ? " with read_only" : "", shared ? "read" : "write"));
  }
  if (absl::IsFailedPrecondition(lock.status())) return WithContext(lock.status(), fmt::format("{} is open elsewhere", engine.directory));
  if (!lock.ok()) return WithContext(lock.status(), "opening " + engine.directory);
  engine.lock = *std::move(lock);
  return absl::OkStatus();
}

absl::Status RemoveAll(Engine& engine, uint64_t number_end, const std::function<bool(const FileName&)>& goes) {
  FileSystem* fs = engine.file_system;
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs->List(engine.directory));
  bool removed = false;
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name, number_end);
    if (!parsed || !goes(*parsed)) continue;
    STELE_RETURN_IF_ERROR(fs->Remove(JoinPath(engine.directory, name)));
    removed = true;
  }
  return removed ? fs->SyncDirectory(engine.directory) : absl::OkStatus();
}

CommitLogOptions LogOptions(Engine& engine) {
  return {.file_system = engine.file_system,
          .directory = engine.directory,
          .database_id = engine.database_id,
          .segment_bytes = engine.options.sizes.segment_bytes,
          .first_segment_bytes = engine.options.sizes.first_segment_bytes,
          .next_file_number = [&engine] { return engine.NewFileNumber(); },
          .space_is_scarce = [&engine] { return engine.SpaceIsScarce(); },
          .manifest_reach = [manifest = engine.manifest.get()]() -> ManifestReach {
            const ManifestLog::SyncedEnd end = manifest->synced_end();
            return {.number = end.number, .bytes = end.bytes};
          }};
}

// The manifest, then CURRENT, which makes the directory a database; then the log. Before CURRENT a crash leaves what the next Open begins
// again from. The manifest names no segment yet: its first edit, before any commit, does.
absl::Status CreateFiles(Engine& engine) {
  engine.database_id = RandomSeed();
  const uint64_t manifest_number = engine.NewFileNumber();
  Version initial;
  initial.next_file_number = engine.next_file_number.load();
  initial.clock_mark = engine.clock.Now();
  initial.token_key = {.first = RandomSeed(), .second = RandomSeed()};
  initial.tables.emplace(kTokenTableId, EmptyTokenTable());
  STELE_ASSIGN_OR_RETURN(engine.manifest,
                         ManifestLog::Create(engine.file_system, engine.directory, engine.database_id, manifest_number, initial));
  engine.state.Install(engine.manifest->version(), std::nullopt);
  STELE_ASSIGN_OR_RETURN(engine.log, CommitLog::Start(LogOptions(engine), LogTail{}));
  return absl::OkStatus();
}

absl::Status RaiseFileNumber(Engine& engine, uint64_t from_manifest) {
  uint64_t next = from_manifest;
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, engine.file_system->List(engine.directory));
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name, FileNumberEnd(from_manifest));
    if (parsed.has_value()) next = std::max(next, parsed->number + 1);
  }
  engine.next_file_number.store(next);
  return absl::OkStatus();
}

// What a crash or an earlier Close left: temporaries, files of views, SSTables no edit references, manifests and segments that are not
// needed.
absl::Status RemoveLeftovers(Engine& engine, const Version& version) {
  std::set<uint64_t> needed;
  for (const auto& [number, file] : version.Files()) needed.insert(number);
  return RemoveAll(engine, FileNumberEnd(version.next_file_number), [&](const FileName& name) {
    switch (name.type) {
      case FileType::kSpill:
      case FileType::kTemporary:
        return true;
      case FileType::kSstable:
        return !needed.contains(name.number);
      case FileType::kManifest:
        return name.number != engine.manifest->number();
      case FileType::kSegment:
        // No edit, hence no commit yet: a segment is what is left of a creation.
        return version.oldest_segment == 0 || name.number < version.oldest_segment;
      default:
        return false;
    }
  });
}

// What no edit ever named, whatever of the manifest is durable: files of views, temporaries, and SSTables of jobs that did not end. They
// may be what the disk is full of.
absl::Status RemoveUnfinished(Engine& engine, const Version& version) {
  return RemoveAll(engine, FileNumberEnd(version.next_file_number), [&version](const FileName& name) {
    const bool is_unfinished = name.type == FileType::kSstable && name.number >= version.next_file_number;
    return is_unfinished || name.type == FileType::kSpill || name.type == FileType::kTemporary;
  });
}

// What opening itself writes: the log's first segment, and soon after perhaps a manifest.
void MakeRoomToOpen(Engine& engine, uint64_t manifest_bytes) {
  constexpr uint64_t kOpenBytes = uint64_t{256} << 10;
  engine.reserve.Find();
  if (engine.reserve.FreeBytes() >= 2 * manifest_bytes + kOpenBytes) return;
  engine.MakeRoom();
}

// From here on the directory is changed: what is torn of the manifest goes, leftovers go, and the log is fit to be written.
absl::Status TakeOver(Engine& engine, const LogReadOptions& log_options, const ReplayedLog& replayed) {
  STELE_ASSIGN_OR_RETURN(ManifestLog::Recovered recovered, ManifestLog::Recover(engine.file_system, engine.directory, /*read_only=*/false));
  engine.manifest = std::move(recovered.log);
  engine.manifest->SetFileNumberSource([&engine] { return engine.NewFileNumber(); });
  engine.state.Install(recovered.version, std::nullopt);
  STELE_RETURN_IF_ERROR(RaiseFileNumber(engine, recovered.version->next_file_number));
  STELE_RETURN_IF_ERROR(RemoveLeftovers(engine, *recovered.version));
  // The log goes on from its own last sequence, which its reader holds each segment against; a bulk load's is in no log and may be above.
  LogTail tail = replayed.tail;
  if (recovered.version->oldest_segment == 0) tail = LogTail{.last_sequence = replayed.last_sequence};  // its segment was a leftover
  STELE_RETURN_IF_ERROR(SyncReplayedLog(log_options, tail));
  STELE_ASSIGN_OR_RETURN(engine.log, CommitLog::Start(LogOptions(engine), tail));
  return absl::OkStatus();
}

LogReadOptions ReadOptionsOf(const Engine& engine, const Version& version) {
  return {.file_system = engine.file_system,
          .directory = engine.directory,
          .database_id = engine.database_id,
          .oldest_segment = version.oldest_segment,
          .number_end = FileNumberEnd(version.next_file_number)};
}

// All is read before anything is changed, so that a database that proves damaged or half copied is left as it was.
absl::StatusOr<ReplayedLog> RecoverFiles(Engine& engine) {
  STELE_ASSIGN_OR_RETURN(const ManifestLog::Recovered recovered,
                         ManifestLog::Recover(engine.file_system, engine.directory, /*read_only=*/true));
  engine.database_id = recovered.database_id;
  const std::shared_ptr<const Version> version = recovered.version;
  if (!version->tables.contains(kTokenTableId)) {
    return DataLoss(ManifestName(recovered.manifest_number), 0, "it lacks the table of the idempotency tokens");
  }
  STELE_RETURN_IF_ERROR(CheckFiles(engine.file_system, engine.directory, *version));
  STELE_RETURN_IF_ERROR(RaiseFileNumber(engine, version->next_file_number));
  engine.clock.RaiseTo(version->clock_mark);
  engine.state.Install(version, std::nullopt);
  engine.state.Publish(version->last_sequence);
  const LogReadOptions log_options = ReadOptionsOf(engine, *version);
  STELE_ASSIGN_OR_RETURN(ReplayedLog replayed, ReplayLog(engine, log_options));
  if (replayed.tail.clean && !recovered.closed) {
    return DataLoss(ManifestName(recovered.manifest_number), 0,
                    "the log was closed properly and the manifest was not: the manifest lost its end; restore the file from a copy");
  }
  const ManifestReach manifest_end{.number = recovered.manifest_number, .bytes = recovered.end_offset};
  if (const ManifestReach& synced = replayed.tail.manifest_reach; manifest_end < synced) {
    return DataLoss(ManifestName(recovered.manifest_number), recovered.end_offset,
                    fmt::format("the manifest ends here; the log says that {} was synced up to {}; restore the file from a copy, or take a "
                                "checkpoint",
                                ManifestName(synced.number), synced.bytes));
  }
  const LogReach reached{.segment = replayed.tail.segment_number, .end_offset = replayed.tail.end_offset};
  if (reached < version->log_reach) {
    return DataLoss(SegmentName(version->log_reach.segment), version->log_reach.end_offset,
                    fmt::format("the log was synced up to here, and now ends in segment {} at {}; restore what is missing from a copy",
                                reached.segment, reached.end_offset));
  }
  engine.discarded_log_bytes = replayed.tail.discarded_bytes;
  if (engine.discarded_log_bytes > 0) {
    engine.events.Report(Event::Kind::kLogDiscarded,
                         fmt::format("the log ended in {} bytes of an unfinished write; they were dropped", engine.discarded_log_bytes),
                         engine.discarded_log_bytes);
  }
  if (engine.options.database.read_only) return replayed;
  STELE_RETURN_IF_ERROR(RemoveUnfinished(engine, *version));
  MakeRoomToOpen(engine, recovered.end_offset);
  STELE_RETURN_IF_ERROR(TakeOver(engine, log_options, replayed));
  return replayed;
}

// Makes the directory if it is missing and wanted, and answers it held.
absl::StatusOr<std::shared_ptr<FileSystem>> ReachDirectory(const std::string& directory, const EngineOptions& options) {
  FileSystem* const fs = options.file_system;
  STELE_ASSIGN_OR_RETURN(const DirectoryState state, InspectDirectory(fs, directory));
  const bool exists = state == DirectoryState::kDatabase;
  if (exists && options.database.error_if_exists) return AlreadyExists("{} holds a database, and error_if_exists is set", directory);
  if (!exists && (!options.database.create_if_missing || options.database.read_only)) {
    return NotFound("{} holds no database; open it without read_only and with create_if_missing to create one", directory);
  }
  if (state == DirectoryState::kMissing) {
    absl::Status made = fs->CreateDirectory(directory);
    if (!made.ok() && made.code() != absl::StatusCode::kAlreadyExists) return made;
    STELE_RETURN_IF_ERROR(fs->SyncDirectory(ParentDirectory(directory)));
  }
  return fs->Hold(directory);
}

// Answers what was replayed: nothing of a new database.
absl::StatusOr<ReplayedLog> OpenFiles(Engine& engine) {
  STELE_RETURN_IF_ERROR(TakeLock(engine));
  // Another process may have finished a creation between the look and the lock.
  STELE_ASSIGN_OR_RETURN(const DirectoryState state, InspectDirectory(engine.file_system, engine.directory));
  if (state != DirectoryState::kDatabase) {
    STELE_RETURN_IF_ERROR(CreateFiles(engine));
    return ReplayedLog{};
  }
  absl::StatusOr<ReplayedLog> replayed = RecoverFiles(engine);
  if (!replayed.ok()) return WithContext(replayed.status(), "opening " + engine.directory);
  return replayed;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Engine>> Engine::Open(std::string directory, EngineOptions options) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<FileSystem> held, ReachDirectory(directory, options));
  std::shared_ptr<Engine> engine(new Engine(std::move(directory), std::move(options), std::move(held)));
  STELE_ASSIGN_OR_RETURN(const ReplayedLog replayed, OpenFiles(*engine));
  Engine& e = *engine;
  const EngineSizes& sizes = e.options.sizes;
  e.committer = std::make_unique<Committer>(
      &e.state, e.log.get(), &e.clock,
      Committer::Limits{
          .memtable_bytes = sizes.memtable_bytes, .active_bytes_max = sizes.write_memory_bytes / 2, .log_bytes_max = sizes.log_bytes_max});
  e.committer->StartAfter(e.state.published_sequence());
  if (e.options.database.read_only) return engine;
  e.manifest->SetFileNumberSource([&e] { return e.NewFileNumber(); });
  e.installer = std::make_unique<Installer>(Installer::Parts{.state = &e.state,
                                                             .committer = e.committer.get(),
                                                             .log = e.log.get(),
                                                             .manifest = e.manifest.get(),
                                                             .files = &e.files,
                                                             .clock = &e.clock,
                                                             .next_file_number = &e.next_file_number});
  e.installer->CountDebt();
  e.background = std::make_unique<Background>(&e, e.options.background_threads);
  if (!replayed.complete) STELE_RETURN_IF_ERROR(ReplayRest(e, ReadOptionsOf(e, *e.manifest->version()), replayed));
  ShortenLog(e);
  e.background->Start();
  return engine;
}

}  // namespace stele::internal
