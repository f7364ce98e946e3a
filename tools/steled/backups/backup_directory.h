// steled/backups/backup_directory.h: stores backups on disk. Each is a separate database with one
// table.
//
// A backup is a checkpoint of the served database without the other tables. Its name and expiry are
// in a property of its table. So it does not depend on the served database, and `stele` and the
// library can open it.
//
// Format:    ROOT/PROJECT@INSTANCE@CLUSTER@BACKUP/ is a database; ROOT/.unfinished-N are backups
//            being created or removed. The server that uses ROOT holds a lock (flock) on
//            ROOT/.lock. Other names that begin with '.' are ignored. Property kBackupProperty:
//            google.bigtable.admin.v2.Backup as JSON. The folder's name determines the backup's
//            name.
// Errors:    AlreadyExists, NotFound for names; FailedPrecondition if another server uses the root;
//            those of the library and of the file system.
// Threads:   thread-safe. On one backup only read calls may run concurrently. Make() may run
//            concurrently with calls on other backups.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/table.pb.h"
#include "stele/database.h"

namespace stele::server {

inline constexpr std::string_view kBackupProperty = "steled.backup";

class BackupDirectory {
 public:
  // `root` is created with the first backup.
  explicit BackupDirectory(std::string root) : root_(std::move(root)) {}
  ~BackupDirectory();
  BackupDirectory(const BackupDirectory&) = delete;
  BackupDirectory& operator=(const BackupDirectory&) = delete;

  // Checks that backups can be created: creates the root, and a temporary directory in it.
  absl::Status CheckUsable();

  // Returns the existing backups. Removes those that were being created or removed when a process
  // ended. A folder that cannot be read or removed is kept and passed to `report`. Excludes other
  // servers from the root, from now on or from its creation.
  absl::StatusOr<std::vector<google::bigtable::admin::v2::Backup>> Scan(
      const std::function<void(const absl::Status&)>& report);

  // Copies the present state of a table of `database` to the backup named in `backup`, and sets its
  // end time (from `clock`), size and state. The backup is durable if this returns OK. After an
  // error nothing is left. Only a crash of the system after a failed sync of the root may bring the
  // backup back. Returns Cancelled once `stop` is requested.
  absl::Status Make(const Database& database, const std::string& stored_table,
                    TimestampClock* clock, const std::stop_token& stop,
                    google::bigtable::admin::v2::Backup* backup);
  // Stores the changed fields of `backup`.
  absl::Status Update(const google::bigtable::admin::v2::Backup& backup);
  // Also returns OK if it no longer exists, so that a failed call can be repeated.
  absl::Status Remove(const std::string& backup_name);

  // A backup, open for reading. Its database contains one table.
  struct Opened {
    Database database;
    Table table;
  };
  absl::StatusOr<Opened> Open(const std::string& backup_name) const;

 private:
  std::string PathOf(const std::string& backup_name) const;
  std::string NewHiddenPath();
  absl::Status Lock();
  absl::Status MakeHidden(const Database& database, const std::string& stored_table,
                          TimestampClock* clock, const std::stop_token& stop,
                          const std::string& path,
                          google::bigtable::admin::v2::Backup* backup) const;

  const std::string root_;
  std::atomic<uint64_t> hidden_count_ = 0;
  std::mutex lock_mutex_;
  int lock_descriptor_ = -1;  // guarded by lock_mutex_; the root is locked while it is open
};

}  // namespace stele::server
