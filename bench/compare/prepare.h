// bench/compare/prepare.h: makes the data of a workload in a separate process before the timed
// part. Its memory and its caches are therefore not part of the figures.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "child.h"
#include "contender.h"
#include "measure.h"
#include "workload_list.h"

namespace stele_compare {

inline Figure FigureOf(const absl::Status& status) {
  if (status.ok()) return Figure();
  return Failed(std::string(status.message()) + " (" + absl::StatusCodeToString(status.code()) +
                ")");
}

// Writes the rows in random order, closes the database, and leaves one sorted run.
template <typename Engine>
absl::Status WriteRandomRows(const WorkloadRun& run) {
  Engine engine;
  absl::Status status = engine.Open(run.settings);
  RowMaker maker(*run.pool, run.workload->data_set);
  for (const uint32_t row : Shuffled(RowCountOf(run.workload->data_set, run.rows), run.seed)) {
    if (status.ok()) status = engine.Write(maker.Make(row), /*sync=*/false);
  }
  if (status.ok()) status = engine.Settle();
  if (status.ok() && run.compacts) status = engine.Compact();
  const absl::Status closed = engine.Close();
  return status.ok() ? closed : status;
}

// Returns a figure without an error, or with that of the preparation. The files are synced, so that
// their writeback is not part of the timed part.
template <typename Engine>
Figure Prepare(const WorkloadRun& run) {
  Figure figure;
  switch (run.workload->preparation) {
    case Preparation::kNone:
      return figure;
    case Preparation::kRandomRows:
      figure = RunInChild([&run] { return FigureOf(WriteRandomRows<Engine>(run)); });
      break;
  }
  SyncFiles(run.settings.directory);
  return figure;
}

}  // namespace stele_compare
