// steled/backups/backups.h: the backups of all instances: handles requests for them, and runs the
// long work in the background.
//
// Operations create, copy and restore backups. A backup that is being created has the state
// CREATING; once it is READY it is on disk. An expired backup is not visible any more. It is
// removed within a minute, but not before the last operation that reads it ends. Removal goes by
// the database's collection time, which differs from the clock while the clock is not trusted.
//
// Errors:    Bigtable's codes: INVALID_ARGUMENT for names and times, NOT_FOUND, ALREADY_EXISTS;
//            FAILED_PRECONDITION for a backup that is being created or read, and for a database in
//            memory, which has no place for backups.
// Threads:   thread-safe. Get, List and HasBackupOf wait for no I/O. Only one change of a backup
//            runs at a time.
// Source:    google.bigtable.admin.v2.BigtableTableAdmin.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/table_admin.pb.h"
#include "stele/database.h"
#include "stele/timestamp.h"
#include "steled/backups/backup_directory.h"
#include "steled/base/log.h"
#include "steled/rpc/operations.h"
#include "steled/state/open_tables.h"

namespace stele::server {

class Backups {
 public:
  // `root` is the directory for backups; "": none. `clock` gives creation and expiry times.
  // `tables` must outlive this object, and this object must outlive the work of `operations`; only
  // calls that start work use `operations`.
  Backups(Database database, OpenTables* tables, Operations* operations, std::string root,
          std::shared_ptr<TimestampClock> clock);

  // Finds the backups on disk. Call it first.
  absl::Status Load();
  // See BackupDirectory::CheckUsable().
  absl::Status CheckDirectory();

  absl::StatusOr<google::longrunning::Operation> Create(
      const google::bigtable::admin::v2::CreateBackupRequest& request);
  // Creates a backup before it returns. Cancelled once `stop` is requested.
  absl::StatusOr<google::bigtable::admin::v2::Backup> CreateAndWait(
      const google::bigtable::admin::v2::CreateBackupRequest& request, const std::stop_token& stop);
  absl::StatusOr<google::longrunning::Operation> Copy(
      const google::bigtable::admin::v2::CopyBackupRequest& request);
  absl::StatusOr<google::longrunning::Operation> Restore(
      const google::bigtable::admin::v2::RestoreTableRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::Backup> Get(const std::string& name) const;
  absl::StatusOr<google::bigtable::admin::v2::Backup> Update(
      const google::bigtable::admin::v2::UpdateBackupRequest& request);
  absl::Status Delete(const std::string& name);
  // As described in backup_list.h; by default the newest first.
  absl::Status List(const google::bigtable::admin::v2::ListBackupsRequest& request,
                    google::bigtable::admin::v2::ListBackupsResponse* response) const;
  // Returns whether an instance or a cluster of this name has a backup.
  bool HasBackupOf(std::string_view name) const;

  // Removes backups that have expired by the collection time and that no operation reads.
  void RemoveExpired();

 private:
  struct Entry {
    google::bigtable::admin::v2::Backup backup;
    int reader_count = 0;  // operations that read it
  };
  // Pins a backup: it is not removed from disk as long as this object exists.
  class ReadPin;
  class Reservation;

  absl::Status CheckOffered() const;
  bool IsExpired(const google::bigtable::admin::v2::Backup& backup) const;
  // Returns null if it does not exist or has expired.
  const Entry* FindLocked(const std::string& name) const;
  absl::StatusOr<Entry*> FindReadyLocked(const std::string& name);
  // Returns a backup that is READY. FailedPrecondition while an operation reads it.
  absl::StatusOr<google::bigtable::admin::v2::Backup> FindUnread(const std::string& name);
  absl::StatusOr<std::unique_ptr<ReadPin>> PinForRead(const std::string& name);
  // Removes a READY backup that no operation reads. The caller holds changing_.
  absl::Status Remove(const std::string& name);

  // Returns the backup that a request describes, checked, with state CREATING.
  absl::StatusOr<google::bigtable::admin::v2::Backup> NewBackup(
      const google::bigtable::admin::v2::CreateBackupRequest& request);
  // Copies the table of a reserved backup.
  absl::Status Make(const std::stop_token& stop, google::bigtable::admin::v2::Backup* backup);
  // The present state of a backup: a hot one whose hot_to_standard_time has passed is a standard
  // one.
  google::bigtable::admin::v2::Backup Current(
      const google::bigtable::admin::v2::Backup& backup) const;

  // Adds the name to the list, with state CREATING.
  absl::Status Reserve(const google::bigtable::admin::v2::Backup& backup);
  // Reserves a backup, and starts the work that makes and finishes it. If the work does not start,
  // also because of an exception, the name is free again.
  absl::StatusOr<google::longrunning::Operation> StartReserved(
      const google::bigtable::admin::v2::Backup& backup, const google::protobuf::Message& metadata,
      Operations::Work work);
  // Makes a reserved backup READY if `made` is OK. If `made` is an error, or there is no memory for
  // this, removes the backup from the list. Returns `made`, or the error for lack of memory.
  absl::Status FinishReserved(const absl::Status& made,
                              const google::bigtable::admin::v2::Backup& backup);
  absl::Status RestoreInto(const ReadPin& source, const std::string& stored_name,
                           const std::stop_token& stop);

  Database database_;
  OpenTables& tables_;
  Operations& operations_;
  const bool is_offered_;
  BackupDirectory directory_;
  const std::shared_ptr<TimestampClock> clock_;
  // Held during the I/O of a change of a backup, and while an operation begins to read one.
  // Acquired before mutex_.
  std::mutex changing_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by the name in the API; guarded by mutex_
  LogLimit removal_limit_;                // of lines about backups that cannot be removed
  std::condition_variable_any waiting_;
  std::jthread expiring_;  // last: uses the others
};

}  // namespace stele::server
