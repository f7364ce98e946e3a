// steled/backups.h: the backups of all instances: what requests say of them, and what runs beside requests.
//
// A backup is made, copied and restored by an operation. While it is made its state is CREATING; once it is READY it is on disk. One that
// expired is not seen any more, and removed within a minute, or when nothing reads it any more.
//
// Errors:    Bigtable's codes: INVALID_ARGUMENT for names and times, NOT_FOUND, ALREADY_EXISTS; FAILED_PRECONDITION for a backup that is
//            being made or read, and for a database in memory, which has no place for backups.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableTableAdmin.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup_directory.h"
#include "open_tables.h"
#include "operations.h"
#include "stele/database.h"
#include "stele/timestamp.h"
#include "wire/table_admin.pb.h"

namespace stele::server {

class Backups {
 public:
  // `root`: where backups are; "" for none. `clock` says when one was made and has expired. `tables` has to outlive this, and this has to
  // outlive what `operations` runs, which is used only by the calls that start something.
  Backups(Database database, OpenTables* tables, Operations* operations, std::string root, std::shared_ptr<Clock> clock);

  // Finds what is on disk; before anything else.
  absl::Status Load();

  absl::StatusOr<google::longrunning::Operation> Create(const google::bigtable::admin::v2::CreateBackupRequest& request);
  absl::StatusOr<google::longrunning::Operation> Copy(const google::bigtable::admin::v2::CopyBackupRequest& request);
  absl::StatusOr<google::longrunning::Operation> Restore(const google::bigtable::admin::v2::RestoreTableRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::Backup> Get(const std::string& name) const;
  absl::StatusOr<google::bigtable::admin::v2::Backup> Update(const google::bigtable::admin::v2::UpdateBackupRequest& request);
  absl::Status Delete(const std::string& name);
  // As backup_list.h says; the newest first where nothing else is asked for.
  absl::Status List(const google::bigtable::admin::v2::ListBackupsRequest& request,
                    google::bigtable::admin::v2::ListBackupsResponse* response) const;
  // Whether an instance ("projects/P/instances/I") has one.
  bool HasOf(std::string_view instance_name) const;

  // Removes those that have expired and that nothing reads.
  void RemoveExpired();

 private:
  struct Entry {
    google::bigtable::admin::v2::Backup backup;
    int reader_count = 0;  // operations that read it
  };
  // As long as it lives its backup stays on disk.
  class Reading;

  absl::Status CheckOffered() const;
  bool IsExpired(const google::bigtable::admin::v2::Backup& backup) const;
  // Null where there is none, or an expired one.
  const Entry* FindLocked(const std::string& name) const;
  absl::StatusOr<Entry*> FindReadyLocked(const std::string& name);
  absl::StatusOr<std::unique_ptr<Reading>> Read(const std::string& name);
  absl::Status RemoveLocked(const std::string& name);

  // Takes the name and its place in the list, with state CREATING.
  absl::Status Reserve(const google::bigtable::admin::v2::Backup& backup);
  // What was reserved is READY, or gone.
  absl::Status Settle(const absl::Status& made, const google::bigtable::admin::v2::Backup& backup);
  absl::Status RestoreInto(const Reading& source, const std::string& stored_name, const std::stop_token& stop);

  Database database_;
  OpenTables& tables_;
  Operations& operations_;
  const bool is_offered_;
  BackupDirectory directory_;
  const std::shared_ptr<Clock> clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by the name on the wire; guarded by mutex_
  std::condition_variable_any waiting_;
  std::jthread expiring_;  // last: uses the others
};

}  // namespace stele::server
