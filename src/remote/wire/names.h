// remote/wire/names.h: converts resource names of the API to the names of tables in the database.
//
// Format:    projects/P/instances/I/tables/T is table "P/I/T" of the database.
// Errors:    InvalidArgument naming the argument.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::internal {

// "projects/P/instances/I/tables/T" -> "P/I/T".
absl::StatusOr<std::string> StoredTableName(std::string_view table_name);

// "projects/P/instances/I" -> "P/I/", the prefix of its tables' names in the database.
absl::StatusOr<std::string> StoredPrefix(std::string_view instance_name);

// "projects/P" -> "P/".
absl::StatusOr<std::string> StoredProjectPrefix(std::string_view project_name);

// "P/I/T" -> "projects/P/instances/I/tables/T"; "" for a name of another form.
std::string WireTableName(std::string_view stored_name);

// 1 to 50 of [-_.a-zA-Z0-9], not beginning with '-' or '.'.
absl::Status CheckResourceId(std::string_view what, std::string_view resource_id);
absl::Status CheckTableId(std::string_view table_id);
absl::Status CheckBackupId(std::string_view backup_id);

// Returns "projects/P/instances/I/clusters/C/backups/", the prefix of the names of the cluster's
// backups. For the cluster "-" returns the prefix of all clusters of the instance.
absl::StatusOr<std::string> BackupPrefix(std::string_view cluster_name);

// projects/P/instances/I/clusters/C/backups/B.
struct BackupName {
  std::string project;
  std::string instance;
  std::string cluster;
  std::string backup;
};
absl::StatusOr<BackupName> ParseBackupName(std::string_view backup_name);

}  // namespace stele::internal
