// steled/backups/automated_backups.h: creates the backups that tables' automated_backup_policy
// requests.
//
// A table is due if it has no automated backup, or if the last one started at least the policy's
// frequency ago. The backup goes to the first cluster of the table's instance, with the id
// "auto-MICROSECONDS-N", and expires after the policy's retention_period. The Backups object then
// removes it.
//
// Format:    record "automated_backup/TABLE": google.protobuf.Timestamp, when the last one started.
//            OpenTables removes it.
// Errors:    those of Backups and Records. After a failure the table is retried after 20 seconds,
//            and after twice that time with each further failure, up to an hour. If only the record
//            could not be written, as on a full disk, only the record is retried.
// Threads:   MakeDue() by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/table.pb.h"
#include "stele/table.h"
#include "stele/timestamp.h"
#include "steled/backups/backups.h"
#include "steled/state/instances.h"
#include "steled/state/open_tables.h"
#include "steled/state/records.h"

namespace stele::server {

class AutomatedBackups {
 public:
  // All arguments must outlive this object.
  AutomatedBackups(OpenTables* tables, const Instances* instances, Backups* backups,
                   Records* records, std::shared_ptr<TimestampClock> clock);

  // Creates the backups that are due, one after the other. If one table fails, the others still get
  // theirs; returns the first error. Returns OK early once `stop` is requested.
  absl::Status MakeDue(const std::stop_token& stop);

 private:
  // A table whose backup or record failed.
  struct Unfinished {
    int64_t made_micros = 0;    // the start of a backup without a record; 0: none
    Table table;                // the table of that backup, which may be deleted by now
    int64_t failed_micros = 0;  // the time of the last failure
    int64_t pause_micros = 0;   // from then until the next attempt
  };

  bool IsBackingOff(const std::string& stored_name) const;
  void NoteFailure(const std::string& stored_name);
  absl::Status MakeIfDue(const std::string& stored_name, const std::stop_token& stop);
  // Returns the start of the backup.
  absl::StatusOr<int64_t> Make(const std::string& table_name,
                               const google::bigtable::admin::v2::AutomatedBackupPolicy& policy,
                               const std::stop_token& stop);

  OpenTables& tables_;
  const Instances& instances_;
  Backups& backups_;
  Records& records_;
  const std::shared_ptr<TimestampClock> clock_;
  int made_count_ = 0;                            // distinguishes ids of the same microsecond
  std::map<std::string, Unfinished> unfinished_;  // by the stored name of the table
};

}  // namespace stele::server
