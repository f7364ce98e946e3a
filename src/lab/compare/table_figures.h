// compare/table_figures.h: counts the rows, cells and bytes of a table, for a comparison of
// designs.
//
// Threads:   a pure function.
#pragma once

#include "absl/status/status.h"
#include "stele/lab/compare.h"
#include "stele/stele.h"

namespace stele::internal::lab {

// Reads the whole table, and sets all members that describe its rows.
// Errors: those of the read.
absl::Status CountRows(const Table& table, stele::lab::CompareReport::TableFigures* figures);

}  // namespace stele::internal::lab
