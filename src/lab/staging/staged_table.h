// staging/staged_table.h: a temporary table, so that rows in any order can be read in order.
//
// Errors:    InvalidArgument for rows that no table accepts; errors of the file system.
// Lifetime:  the table and its files are deleted with the object.
// Threads:   confined to one thread.
// Memory:    16 MiB, and a database with a budget of 64 MiB. Rows that fit are not written to disk.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/staging/temporary_database.h"
#include "stele/database.h"
#include "stele/mutation.h"
#include "stele/table.h"

namespace stele::internal::lab {

inline constexpr size_t kStagedFamiliesMax = 1'000;

class StagedTable {
 public:
  // `directory`: where a directory for large tables is created; "": the one for temporary files.
  StagedTable(std::string name, std::string directory);

  // Call it before a row with a cell of this family.
  absl::Status AddFamily(std::string_view name);
  // Adds a row of SetCell changes. `bytes` is an estimate of their memory.
  absl::Status Add(RowMutation row, size_t bytes);
  // Writes the remaining rows. Call it once, after the last row.
  absl::StatusOr<Table> Finish();
  // The database of the table, after Finish().
  const Database& database() const { return staging_.database(); }

 private:
  absl::Status Open(bool in_memory);
  absl::Status Flush();

  const std::string name_;
  const std::string parent_;
  TemporaryDatabase staging_;
  Table table_;  // closed before its database
  std::set<std::string, std::less<>> families_;
  std::vector<RowMutation> rows_;
  size_t buffered_bytes_ = 0;
};

}  // namespace stele::internal::lab
