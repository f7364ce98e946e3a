// steled/backup_list.h: which backups a list has, and in which order, as ListBackups' filter and order_by say it.
//
// A filter is comparisons, FIELD OPERATOR VALUE, with AND between them and parentheses around them. Fields: name, source_table, state,
// start_time, end_time, expire_time, size_bytes. Operators: = != < > <= >= and ':', which is '=' but for a text that is not in quotes: that
// has to be a part of the field's. Letters' case does not count. An order is fields with commas between them, each with "desc" behind it or
// not.
//
// Errors:    InvalidArgument for what is neither; Unimplemented for OR and NOT.
// Threads:   immutable values.
// Source:    google.bigtable.admin.v2.ListBackupsRequest; google.aip.dev/160 and /132.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "wire/table_admin.pb.h"

namespace stele::server {

enum class BackupField { kName, kSourceTable, kState, kStartTime, kEndTime, kExpireTime, kSizeBytes };

class BackupFilter {
 public:
  // "": every backup.
  static absl::StatusOr<BackupFilter> Parse(std::string_view text);

  bool Matches(const google::bigtable::admin::v2::Backup& backup) const;

  enum class Operator { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kHas };
  struct Comparison {
    BackupField field;
    Operator op;
    google::bigtable::admin::v2::Backup value;  // which has that field
  };

 private:
  std::vector<Comparison> comparisons_;  // of which each has to hold
};

class BackupOrder {
 public:
  // "": the newest first.
  static absl::StatusOr<BackupOrder> Parse(std::string_view text);

  // Whether `a` comes before `b`; backups that are equal otherwise come by their names.
  bool operator()(const google::bigtable::admin::v2::Backup& a, const google::bigtable::admin::v2::Backup& b) const;

 private:
  std::vector<std::pair<BackupField, bool>> fields_;  // true: descending
};

}  // namespace stele::server
