// mapping/mapping_store.h: reads and writes the mapping of a table, in its properties or in a file.
//
// Errors:    FailedPrecondition if the table has no mapping, or the file another one; errors of the
//            file system and of the table.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/mapping/mapping.h"
#include "stele/database.h"
#include "stele/table.h"

namespace stele::internal::lab {

// Reads the mapping from the file, or from the table's property if `path` is empty.
absl::StatusOr<Mapping> ReadMapping(const Table& table, const std::string& path);
// Returns nullopt if the table is not an index table.
absl::StatusOr<std::optional<IndexMapping>> ReadIndexMapping(const Table& table);
// Returns the names of the index tables of a table, sorted. None for a database on a server.
std::vector<std::string> IndexTablesOf(const Database& database, const std::string& table);
// Returns true if the file exists with the same mapping, and fails if it exists with another one.
absl::StatusOr<bool> CheckMappingFile(const std::string& path, const Mapping& mapping);
// Writes the file. It may exist with the same mapping.
absl::Status WriteMappingFile(const std::string& path, const Mapping& mapping);

// The record of the imports into a table: its property dynamodb.import. Sources are compared as
// texts.
struct ImportRecord {
  std::string source;        // of the full import that made the table
  std::string changes;       // the incremental export that was applied last, or ""
  bool is_complete = false;  // false: the last import was interrupted, or is running
  // A random text that is also in the state file of the last import; "": unknown.
  std::string run = {};
  uint64_t files = 0;  // the data files that this import has completed

  std::string ToJson() const;
};
// Returns nullopt if the table has no record.
absl::StatusOr<std::optional<ImportRecord>> ReadImportRecord(const Table& table);
absl::Status SetImportRecord(Table& table, const ImportRecord& record);

// Returns the time of the full export, or the end of the newest incremental export that was
// applied, in microseconds. Returns nullopt if the table has no such property.
absl::StatusOr<std::optional<int64_t>> AppliedUntil(const Table& table);
absl::Status SetAppliedUntil(Table& table, int64_t micros);

}  // namespace stele::internal::lab
