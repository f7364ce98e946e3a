// tests/model/history_dump.h: reads a whole database and compares it with the reference.
//
// Threads:   Plain values and pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/history_runner.h"
#include "model/reference_store.h"
#include "stele/stele.h"

namespace stele::internal {

struct HistoryRunner::Dump {
  struct TableDump {
    Schema schema;
    std::map<std::string, ReferenceRow> live;    // read with apply_gc
    std::map<std::string, ReferenceRow> stored;  // read without apply_gc
  };
  std::map<std::string, TableDump> tables;
};

// Returns all rows of a scan, with partial rows joined. Returns an error for a row that is empty or
// out of order.
absl::StatusOr<std::vector<std::pair<std::string, ReferenceRow>>> Collect(
    RowReader reader, bool reverse = false, bool* met_pieces = nullptr);

// Checks that `actual` contains all certain cells of `expected`, and only cells of `expected`.
// Returns "" or the first difference.
std::string RowDiffers(const std::string& row_key, const ReferenceRow& expected,
                       const ReferenceRow& actual);
bool IsCertain(const ReferenceRow& row);

}  // namespace stele::internal
