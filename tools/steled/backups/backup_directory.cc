#include "steled/backups/backup_directory.h"

#include <fcntl.h>
#include <google/protobuf/util/json_util.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "remote/wire/names.h"
#include "remote/wire/timestamps.h"
#include "steled/base/errors.h"
#include "steled/rpc/no_exceptions.h"

namespace stele::server {

using internal::BackupName;
using internal::ParseBackupName;
using internal::ToWireTime;

namespace admin_wire = ::google::bigtable::admin::v2;
namespace fs = std::filesystem;

namespace {

// A backup is opened to copy its data or to change a property. Neither needs much memory, and
// several may be open in addition to the database.
constexpr uint64_t kMemoryBytes = uint64_t{16} << 20;
constexpr char kSeparator = '@';  // not allowed in ids
constexpr std::string_view kHiddenPrefix = ".unfinished-";
constexpr std::string_view kLockName = ".lock";

absl::Status FileError(const std::string& path, std::string_view what, int error) {
  const absl::StatusCode code = error == ENOSPC || error == EDQUOT
                                    ? absl::StatusCode::kResourceExhausted
                                    : absl::StatusCode::kUnavailable;
  return MakeStatus(code, fmt::format("{}: {}: {}", path, what, std::strerror(error)));
}

absl::Status SyncDirectory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return FileError(path, "cannot be opened", errno);
  const int failed = fsync(descriptor);
  const int error = errno;
  close(descriptor);
  return failed == 0 ? absl::OkStatus() : FileError(path, "cannot be synced", error);
}

absl::Status MakeRoot(const std::string& root) {
  std::error_code error;
  if (!fs::create_directories(root, error)) {
    return error ? FileError(root, "cannot be made", error.value()) : absl::OkStatus();
  }
  return SyncDirectory(
      fs::path(root).parent_path().empty() ? "." : fs::path(root).parent_path().string());
}

absl::Status RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? FileError(path, "cannot be removed", error.value()) : absl::OkStatus();
}

absl::StatusOr<Database> OpenDatabase(const std::string& path, bool read_only) {
  return Database::Open(path, {.create_if_missing = false,
                               .read_only = read_only,
                               .durability = Durability::kDisk,
                               .memory_budget_bytes = kMemoryBytes,
                               .background_threads = 1});
}

absl::StatusOr<Table> OnlyTable(const Database& database, const std::string& path) {
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, database.ListTables());
  if (names.size() != 1)
    return FailedPrecondition("{}: a backup has one table, this one has {}", path, names.size());
  return database.OpenTable(names.front());
}

absl::Status StoreFacts(const admin_wire::Backup& backup, Table* table) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(backup, &json).ok())
    return InvalidArgument("A name is not UTF-8");
  return table->SetProperty(std::string(kBackupProperty), json);
}

absl::StatusOr<admin_wire::Backup> ReadFacts(const Table& table, const std::string& path) {
  STELED_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  const auto property = schema.properties().find(kBackupProperty);
  admin_wire::Backup backup;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  if (property == schema.properties().end() ||
      !google::protobuf::util::JsonStringToMessage(property->second, &backup, options).ok()) {
    return FailedPrecondition("{}: its table has no property \"{}\" that describes a backup", path,
                              kBackupProperty);
  }
  return backup;
}

// "P@I@C@B" -> the name in the API; nullopt for another form.
std::optional<std::string> WireNameOf(const std::string& folder) {
  std::vector<std::string> ids;
  for (size_t begin = 0; begin <= folder.size();) {
    const size_t end = std::min(folder.find(kSeparator, begin), folder.size());
    ids.push_back(folder.substr(begin, end - begin));
    begin = end + 1;
  }
  if (ids.size() != 4) return std::nullopt;
  std::string name = fmt::format("projects/{}/instances/{}/clusters/{}/backups/{}", ids[0], ids[1],
                                 ids[2], ids[3]);
  if (!ParseBackupName(name).ok()) return std::nullopt;
  return name;
}

absl::StatusOr<admin_wire::Backup> ReadBackup(const std::string& path, const std::string& folder) {
  const std::optional<std::string> name = WireNameOf(folder);
  if (!name.has_value())
    return FailedPrecondition(
        "{}: no backup has such a folder: expected PROJECT@INSTANCE@CLUSTER@BACKUP", path);
  STELED_ASSIGN_OR_RETURN(Database database, OpenDatabase(path, /*read_only=*/true));
  STELED_ASSIGN_OR_RETURN(const Table table, OnlyTable(database, path));
  STELED_ASSIGN_OR_RETURN(admin_wire::Backup backup, ReadFacts(table, path));
  backup.set_name(*name);
  STELED_RETURN_IF_ERROR(database.Close());
  return backup;
}

}  // namespace

std::string BackupDirectory::PathOf(const std::string& backup_name) const {
  const absl::StatusOr<BackupName> name = ParseBackupName(backup_name);
  return name.ok() ? fmt::format("{}/{}@{}@{}@{}", root_, name->project, name->instance,
                                 name->cluster, name->backup)
                   : std::string();
}

// Folders that could not be removed at the start keep their names.
std::string BackupDirectory::NewHiddenPath() {
  std::string path;
  std::error_code error;
  do {
    path = fmt::format("{}/{}{}", root_, kHiddenPrefix, ++hidden_count_);
  } while (fs::exists(fs::symlink_status(path, error)));
  return path;
}

BackupDirectory::~BackupDirectory() {
  if (lock_descriptor_ >= 0) close(lock_descriptor_);
}

absl::Status BackupDirectory::Lock() {
  const std::lock_guard guard(lock_mutex_);
  if (lock_descriptor_ >= 0) return absl::OkStatus();
  const std::string path = fmt::format("{}/{}", root_, kLockName);
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) return FileError(path, "cannot be opened", errno);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(descriptor);
    if (error != EWOULDBLOCK) return FileError(path, "cannot be locked", error);
    return FailedPrecondition(
        "{}: another server has its backups here; stop it, or give this one a --backup-dir of its "
        "own",
        root_);
  }
  lock_descriptor_ = descriptor;
  return absl::OkStatus();
}

absl::Status BackupDirectory::CheckUsable() {
  STELED_RETURN_IF_ERROR(MakeRoot(root_));
  STELED_RETURN_IF_ERROR(Lock());
  const std::string path = NewHiddenPath();
  if (mkdir(path.c_str(), 0755) != 0) return FileError(path, "cannot be made", errno);
  if (rmdir(path.c_str()) != 0) return FileError(path, "cannot be removed", errno);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<admin_wire::Backup>> BackupDirectory::Scan(
    const std::function<void(const absl::Status&)>& report) {
  std::vector<admin_wire::Backup> backups;
  std::error_code error;
  if (!fs::exists(root_, error) && !error) return backups;
  STELED_RETURN_IF_ERROR(Lock());
  std::vector<std::string> folders;
  for (fs::directory_iterator entry(root_, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    folders.push_back(entry->path().filename().string());
  }
  if (error) return FileError(root_, "cannot be read", error.value());
  for (const std::string& folder : folders) {
    const std::string path = fmt::format("{}/{}", root_, folder);
    if (folder.starts_with(kHiddenPrefix)) {
      if (const absl::Status removed = RemoveAll(path); !removed.ok()) report(removed);
      continue;
    }
    if (folder.starts_with('.')) continue;  // the lock, or a foreign file
    absl::StatusOr<admin_wire::Backup> backup = ReadBackup(path, folder);
    if (backup.ok()) {
      backups.push_back(*std::move(backup));
    } else {
      report(backup.status());
    }
  }
  return backups;
}

absl::Status BackupDirectory::Make(const Database& database, const std::string& stored_table,
                                   TimestampClock* clock, const std::stop_token& stop,
                                   admin_wire::Backup* backup) {
  const std::string path = PathOf(backup->name());
  STELED_RETURN_IF_ERROR(MakeRoot(root_));
  STELED_RETURN_IF_ERROR(Lock());
  const std::string hidden_path = NewHiddenPath();
  absl::Status status = StatusOfStep(
      [&] { return MakeHidden(database, stored_table, clock, stop, hidden_path, backup); });
  // An existing folder that is not empty is never replaced: it may be a backup with that name that
  // cannot be read.
  if (status.ok() && rename(hidden_path.c_str(), path.c_str()) != 0) {
    const bool taken = errno == ENOTEMPTY || errno == EEXIST;
    status = taken ? AlreadyExists("{}: there is such a folder already", path)
                   : FileError(path, "cannot be named so", errno);
  }
  if (status.ok()) {
    status = SyncDirectory(root_);
    // The caller reports a failure, so the next Scan must not find the backup.
    if (status.ok() || rename(path.c_str(), hidden_path.c_str()) != 0) return status;
  }
  RemoveAll(hidden_path).IgnoreError();  // if it fails, the next Scan does it
  return status;
}

absl::Status BackupDirectory::MakeHidden(const Database& database, const std::string& stored_table,
                                         TimestampClock* clock, const std::stop_token& stop,
                                         const std::string& path,
                                         admin_wire::Backup* backup) const {
  STELED_RETURN_IF_ERROR(database.Checkpoint(path, {.stop = stop}));
  const int64_t end_micros = clock->Now().micros();
  STELED_ASSIGN_OR_RETURN(Database copy, OpenDatabase(path, /*read_only=*/false));
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, copy.ListTables());
  for (const std::string& name : names) {
    if (stop.stop_requested()) return MakeStatus(absl::StatusCode::kCancelled, "It was stopped");
    if (name != stored_table) STELED_RETURN_IF_ERROR(copy.DeleteTable(name));
  }
  STELED_ASSIGN_OR_RETURN(Table table, copy.OpenTable(stored_table));
  STELED_ASSIGN_OR_RETURN(const TableStats stats, table.Stats());
  *backup->mutable_end_time() = ToWireTime(end_micros);
  backup->set_size_bytes(static_cast<int64_t>(stats.bytes_on_disk));
  backup->set_state(admin_wire::Backup::READY);
  STELED_RETURN_IF_ERROR(StoreFacts(*backup, &table));
  return copy.Close();
}

absl::Status BackupDirectory::Update(const admin_wire::Backup& backup) {
  const std::string path = PathOf(backup.name());
  STELED_ASSIGN_OR_RETURN(Database database, OpenDatabase(path, /*read_only=*/false));
  STELED_ASSIGN_OR_RETURN(Table table, OnlyTable(database, path));
  STELED_RETURN_IF_ERROR(StoreFacts(backup, &table));
  return database.Close();
}

absl::Status BackupDirectory::Remove(const std::string& backup_name) {
  const std::string path = PathOf(backup_name);
  const std::string hidden_path = NewHiddenPath();
  // If the folder does not exist, an earlier call renamed it and failed to sync, or a person
  // removed it. Then only the sync is missing.
  if (rename(path.c_str(), hidden_path.c_str()) != 0 && errno != ENOENT)
    return FileError(path, "cannot be removed", errno);
  STELED_RETURN_IF_ERROR(SyncDirectory(root_));
  RemoveAll(hidden_path).IgnoreError();  // if it fails, the next Scan does it
  return absl::OkStatus();
}

absl::StatusOr<BackupDirectory::Opened> BackupDirectory::Open(
    const std::string& backup_name) const {
  const std::string path = PathOf(backup_name);
  STELED_ASSIGN_OR_RETURN(Database database, OpenDatabase(path, /*read_only=*/true));
  STELED_ASSIGN_OR_RETURN(Table table, OnlyTable(database, path));
  return Opened{.database = std::move(database), .table = std::move(table)};
}

}  // namespace stele::server
