// steled/backup_directory.h: backups on disk: each a database of its own, with one table.
//
// A backup is a checkpoint of the served database, from which all other tables were deleted; what it is called and when it expires is a
// property of its table. So it outlives the database that it was taken of, and `stele` and the library can open it.
//
// Format:    ROOT/PROJECT@INSTANCE@CLUSTER@BACKUP/, a database; ROOT/.unfinished-N are backups that are being made or removed.
//            ROOT/.lock is locked (flock) by the server whose root it is. Other names that begin with '.' are left alone.
//            Property kBackupProperty: google.bigtable.admin.v2.Backup as JSON. The folder's name decides what the backup is called.
// Errors:    AlreadyExists, NotFound for names; FailedPrecondition where another server has the root; the library's, and those of the file
//            system.
// Threads:   thread-safe; of one backup only calls that read may run together, and Make() beside anything of another name.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/database.h"
#include "wire/table.pb.h"

namespace stele::server {

inline constexpr std::string_view kBackupProperty = "steled.backup";

class BackupDirectory {
 public:
  // `root` is made with the first backup.
  explicit BackupDirectory(std::string root) : root_(std::move(root)) {}
  ~BackupDirectory();
  BackupDirectory(const BackupDirectory&) = delete;
  BackupDirectory& operator=(const BackupDirectory&) = delete;

  // The backups that are there. Removes what was being made or removed when a process ended. What cannot be read or removed stays where it
  // is, and is told to `report`. Keeps other servers from the root, from here on or from when it is made.
  absl::StatusOr<std::vector<google::bigtable::admin::v2::Backup>> Scan(const std::function<void(const absl::Status&)>& report);

  // Copies a table of `database`, as it is now, to the backup named in `backup`, and fills in its end, size and state. Durable when it
  // answers OK; else nothing of it is left. The clock gives the end.
  absl::Status Make(const Database& database, const std::string& stored_table, Clock* clock, google::bigtable::admin::v2::Backup* backup);
  // Stores what of `backup` has changed.
  absl::Status Update(const google::bigtable::admin::v2::Backup& backup);
  // OK also where there is none any more, so that a call that failed can be made again.
  absl::Status Remove(const std::string& backup_name);

  // For reading only; the one table in it is the backup's.
  struct Opened {
    Database database;
    Table table;
  };
  absl::StatusOr<Opened> Open(const std::string& backup_name) const;

 private:
  std::string PathOf(const std::string& backup_name) const;
  std::string NewHiddenPath();
  absl::Status Lock();
  absl::Status MakeHidden(const Database& database, const std::string& stored_table, Clock* clock, const std::string& path,
                          google::bigtable::admin::v2::Backup* backup) const;

  const std::string root_;
  std::atomic<uint64_t> hidden_count_ = 0;
  std::mutex lock_mutex_;
  int lock_descriptor_ = -1;  // guarded by lock_mutex_; the root is locked as long as it is open
};

}  // namespace stele::server
