// steled/backups/backup_list.h: implements the filter and order_by of ListBackups.
//
// A filter has comparisons, FIELD OPERATOR VALUE, joined by AND, with optional parentheses. The
// fields are name, source_table, state, start_time, end_time, expire_time, size_bytes. The
// operators are = != < > <= >= and ':'. ':' means '=', except for a value without quotes of name or
// source_table: the field must contain it. Case is ignored. An order is a list of fields, separated
// by commas, each optionally followed by "asc" or "desc".
//
// Errors:    InvalidArgument for invalid text; Unimplemented for OR and NOT.
// Threads:   immutable values.
// Source:    google.bigtable.admin.v2.ListBackupsRequest; google.aip.dev/160 and /132.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "remote/wire/table_admin.pb.h"

namespace stele::server {

enum class BackupField {
  kName,
  kSourceTable,
  kState,
  kStartTime,
  kEndTime,
  kExpireTime,
  kSizeBytes
};

class BackupFilter {
 public:
  // "": every backup.
  static absl::StatusOr<BackupFilter> Parse(std::string_view text);

  bool Matches(const google::bigtable::admin::v2::Backup& backup) const;

  enum class Operator { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kHas };
  struct Comparison {
    BackupField field;
    Operator op;
    google::bigtable::admin::v2::Backup value;  // with that field set
  };

 private:
  std::vector<Comparison> comparisons_;  // all of which must be true
};

class BackupOrder {
 public:
  // "": the newest first.
  static absl::StatusOr<BackupOrder> Parse(std::string_view text);

  // True if `a` comes before `b`. Backups that are otherwise equal are ordered by name.
  bool operator()(const google::bigtable::admin::v2::Backup& a,
                  const google::bigtable::admin::v2::Backup& b) const;

 private:
  std::vector<std::pair<BackupField, bool>> fields_;  // true: descending
};

}  // namespace stele::server
