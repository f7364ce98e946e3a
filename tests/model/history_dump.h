// model/history_dump.h: a database read in full, and held against the reference.
//
// Threads:   plain values, pure functions.
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
    std::map<std::string, ReferenceRow> live;    // apply_gc
    std::map<std::string, ReferenceRow> stored;  // not
  };
  std::map<std::string, TableDump> tables;
};

// All rows that a scan gives, pieces put together; an error also for rows out of order or empty ones.
absl::StatusOr<std::vector<std::pair<std::string, ReferenceRow>>> Collect(RowReader reader, bool reverse = false,
                                                                          bool* met_pieces = nullptr);

// `actual` must hold what is certain in `expected`, and nothing that is not in it. "" if so.
std::string RowDiffers(const std::string& row_key, const ReferenceRow& expected, const ReferenceRow& actual);
bool IsCertain(const ReferenceRow& row);

}  // namespace stele::internal
