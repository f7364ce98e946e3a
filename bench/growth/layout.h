// bench/growth/layout.h: fills a table of a given shape.
//
// Rows:      keys ascend with the row number. Every column of every family has all versions, with
//            values of 100 bytes that compress to about half.
// Errors:    a status of Stele, and FailedPrecondition if the table does not have the wanted shape.
#pragma once

#include <stele/stele.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data.h"

namespace stele_growth {

// The shape of a table, and how it is used.
struct Layout {
  uint64_t rows = 100'000;
  uint64_t families = 1;
  uint64_t columns = 5;   // of each family
  uint64_t versions = 1;  // of each column
  // Files of each tablet. The rows are divided among them at random. 0: all rows are in the
  // memtable.
  uint64_t files = 1;
  uint64_t tablets = 1;  // of the same number of rows
  uint64_t budget_mib = 1024;
  uint64_t threads = 1;  // that do the operations
};

std::string RowKeyOf(uint64_t row);
std::string FamilyOf(uint64_t family);
std::string QualifierOf(uint64_t column);
// Versions ascend with time.
stele::Timestamp TimeOf(uint64_t version);

constexpr size_t kValueBytes = 100;

struct FilledTable {
  stele::Database database;
  stele::Table table;
};

// Creates a database in `directory` and fills it. A table of several files is opened read-only, so
// that no compaction merges them. The other tables have no work left.
absl::StatusOr<FilledTable> Fill(const std::string& directory, const Layout& layout,
                                 const stele_compare::Pool& pool);

}  // namespace stele_growth
