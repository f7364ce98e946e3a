// model/validate.h: the judgement on what users hand in, at the call that uses it.
//
// Path:      api and db, first thing in each call.
// Errors:    InvalidArgument that says what is wrong, where, and what is allowed. Nothing here needs a database.
// Threads:   pure functions.
// Source:    limits and rules are Bigtable's; docs/data-model.md lists the differences.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "stele/filter.h"
#include "stele/gc_rule.h"
#include "stele/options.h"
#include "stele/row_set.h"
#include "stele/schema.h"

namespace stele::internal {

// What Node's client sends for a project that its user did not name. It means a project of this name.
inline constexpr std::string_view kUnsetProjectId = "{{projectId}}";
// [a-zA-Z0-9][-_.:a-zA-Z0-9]*, at most 64, or kUnsetProjectId.
bool IsProjectId(std::string_view id);
// An instance or a cluster: [a-zA-Z0-9][-_.:a-zA-Z0-9]*, at most 64.
bool IsInstanceId(std::string_view id);
// [_a-zA-Z0-9][-_.a-zA-Z0-9]*, at most 50, optionally behind PROJECT/INSTANCE/.
absl::Status ValidateTableName(std::string_view name);
// [-_.a-zA-Z0-9]+, at most 64.
absl::Status ValidateFamilyName(std::string_view name);
absl::Status ValidateGcRule(const GcRule& rule);
absl::Status ValidateFamily(const FamilySchema& family);
absl::Status ValidateProperty(std::string_view property_key, std::string_view value);
absl::Status ValidateSchema(const Schema& schema);
absl::Status ValidateFamilyChange(const FamilyChange& change);

// A row key to read: not empty.
absl::Status ValidateRowKey(std::string_view row_key);
absl::Status ValidateRowRange(const RowRange& range);
// Not negative, and a multiple of 1000 in a table of milliseconds. `what` names it in the message.
absl::Status ValidateTimestamp(Timestamp timestamp, TimestampGranularity granularity, std::string_view what);
// Both bounds, and start <= end.
absl::Status ValidateTimestampRange(const TimestampRange& range, TimestampGranularity granularity);
// But for what RE2 says of regexes: FilterProgram::Compile, which has to ask it anyway, judges that.
absl::Status ValidateFilter(const Filter& filter, TimestampGranularity granularity);

absl::Status ValidateDatabaseOptions(const DatabaseOptions& options);
absl::Status ValidateReadOptions(const ReadOptions& options);
absl::Status ValidateWriteOptions(const WriteOptions& options);

}  // namespace stele::internal
