// model/validate.h: validates the arguments of public calls.
//
// Used by:   api/table.cc, api/database.cc, mutation/check.cc and state/read_path.cc, at the start
//            of each call.
// Errors:    InvalidArgument that says what is wrong, where, and what is allowed. None of these
//            functions needs a database.
// Threads:   pure functions.
// Source:    limits and rules are Bigtable's; docs/guide/data-model.md lists the differences.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "stele/filter.h"
#include "stele/gc_rule.h"
#include "stele/options.h"
#include "stele/row_set.h"
#include "stele/schema.h"

namespace stele::internal {

// The greatest limit for row keys that a table can have.
inline constexpr size_t kRowKeyBytesMax = 65'535;

// The project id that the Node.js client sends if its user set none. It is accepted as a project
// with this name.
inline constexpr std::string_view kUnsetProjectId = "{{projectId}}";
// [a-zA-Z0-9][-_.:a-zA-Z0-9]*, at most 64 characters, or kUnsetProjectId.
bool IsProjectId(std::string_view id);
// An instance or cluster id: [a-zA-Z0-9][-_.:a-zA-Z0-9]*, at most 64 characters.
bool IsInstanceId(std::string_view id);
// [_a-zA-Z0-9][-_.a-zA-Z0-9]*, at most 50 characters, optionally after PROJECT/INSTANCE/.
absl::Status ValidateTableName(std::string_view name);
// [-_.a-zA-Z0-9]+, at most 64 characters.
absl::Status ValidateFamilyName(std::string_view name);
absl::Status ValidateGcRule(const GcRule& rule);
absl::Status ValidateFamily(const FamilySchema& family);
absl::Status ValidateProperty(std::string_view property_key, std::string_view value);
absl::Status ValidateSchema(const Schema& schema);
absl::Status ValidateFamilyChange(const FamilyChange& change);

// A row key to read must not be empty.
absl::Status ValidateRowKey(std::string_view row_key);
absl::Status ValidateRowRange(const RowRange& range);
// A timestamp must not be negative, and must be a multiple of 1000 in a table with millisecond
// granularity. `what` names it in the message.
absl::Status ValidateTimestamp(Timestamp timestamp, TimestampGranularity granularity,
                               std::string_view what);
// Checks both bounds, and that start <= end.
absl::Status ValidateTimestampRange(const TimestampRange& range, TimestampGranularity granularity);
// Checks everything that needs no compilation. FilterProgram::Compile checks the syntax and the
// memory of regexes, and the limits of steps and passes (filter/compile.h).
absl::Status ValidateFilter(const Filter& filter, TimestampGranularity granularity);

absl::Status ValidateDatabaseOptions(const DatabaseOptions& options);
absl::Status ValidateReadOptions(const ReadOptions& options);
absl::Status ValidateWriteOptions(const WriteOptions& options);

}  // namespace stele::internal
