// lint/table_reader.h: reads the rows of a table in order, and collects facts about them.
//
// Errors:    errors of the database.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "lab/facts/table_facts.h"
#include "lab/trace/known_keys.h"
#include "lab/trace/prefix_scans.h"
#include "stele/database.h"
#include "stele/table.h"

namespace stele::internal::lab {

struct ReadPlan {
  SizeLimits limits;
  double versions_max = 0;
  std::optional<std::string> delimiter;  // given by the caller
  uint64_t sample_rows = 0;              // reads about this many rows; 0: all rows
  // Gets the keys that readers see, if it is not null. It is not started if there are none.
  PrefixScans* prefix_scans = nullptr;
  std::function<void(uint64_t rows)> progress;
};

struct TableRows {
  std::unique_ptr<TableFacts> facts;
  KnownKeys known_keys;
  bool is_sampled = false;
};

// Reads all rows of a table, or a sample of them, from one snapshot. A server without snapshots is
// read without one. If no layout of the keys is declared, an additional pass reads the keys first.
// If a family has a GC rule, one pass reads all stored cells, and another one the cells that a
// reader sees. `key_schema` must outlive the result.
absl::StatusOr<TableRows> ReadTable(const Database& database, const Table& table,
                                    const Schema& schema, const keys::RowKeySchema* key_schema,
                                    const ReadPlan& plan);

// Returns the layout of keys that the design in the property lab.design declares. Returns nullopt
// if there is no such property, or if it is not a valid design of one table.
std::optional<SegmentPlan> DesignedPlan(const Schema& schema);

// The row key schema in the properties of the table. Errors: InvalidArgument for a wrong one.
absl::StatusOr<std::optional<keys::RowKeySchema>> KeySchemaOf(const Schema& schema);

}  // namespace stele::internal::lab
