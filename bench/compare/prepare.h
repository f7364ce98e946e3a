// bench/compare/prepare.h: makes the data of a workload in a separate process before the timed
// part. Its memory and its caches are therefore not part of the figures.
#pragma once

#include <filesystem>
#include <memory>
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

// Returns whether the workload reads another database than the one that earlier workloads left.
template <typename Engine>
bool HasOwnKeyspace(const Workload& workload) {
  return workload.preparation == Preparation::kOwnKeyspace && !Engine::kHasFamilies;
}

// The settings for the timed part.
template <typename Engine>
OpenSettings SettingsFor(const WorkloadRun& run) {
  OpenSettings settings = run.settings;
  if (HasOwnKeyspace<Engine>(*run.workload)) settings.directory += "/own-keyspace";
  return settings;
}

// Loads only the projected family of each row.
template <typename Engine>
absl::Status LoadOwnKeyspace(const WorkloadRun& run) {
  const OpenSettings settings = SettingsFor<Engine>(run);
  std::filesystem::remove_all(settings.directory);
  std::filesystem::create_directories(settings.directory);
  Engine engine;
  absl::Status status = engine.Open(settings);
  RowMaker maker(*run.pool, run.workload->data_set);
  const uint64_t rows = RowCountOf(run.workload->data_set, run.rows);
  for (uint64_t i = 0; i < rows && status.ok(); ++i) {
    RowData row = maker.Make(i);
    size_t cells = 0;
    while (cells < row.cells.size() && row.cells[cells].family == kProjectedFamily) ++cells;
    row.cells = row.cells.first(cells);
    status = engine.BulkAdd(row);
  }
  if (status.ok()) status = engine.BulkFinish();
  if (status.ok()) status = engine.Settle();
  if (status.ok() && run.compacts) status = engine.Compact();
  const absl::Status closed = engine.Close();
  return status.ok() ? closed : status;
}

inline bool HasTableFile(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::filesystem::path suffix = entry.path().extension();
    if (suffix == ".sst" || suffix == ".ldb") return true;
  }
  return false;
}

// Writes the rows in random order and leaves the database open. The process must then end without
// destructors. Returns an error if the engine flushed rows.
template <typename Engine>
absl::Status WriteUnclosed(const WorkloadRun& run) {
  Engine* const engine = std::make_unique<Engine>().release();
  absl::Status status = engine->Open(run.settings);
  RowMaker maker(*run.pool, run.workload->data_set);
  for (const uint32_t row : Shuffled(RowCountOf(run.workload->data_set, run.rows), run.seed)) {
    if (status.ok()) status = engine->Write(maker.Make(row), /*sync=*/false);
  }
  if (status.ok() && HasTableFile(run.settings.directory))
    return absl::InternalError("rows were flushed that the log alone should have");
  return status;
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
    case Preparation::kOwnKeyspace:
      if (HasOwnKeyspace<Engine>(*run.workload))
        figure = RunInChild([&run] { return FigureOf(LoadOwnKeyspace<Engine>(run)); });
      break;
    case Preparation::kUnclosed:
      figure = RunInChild([&run] { return FigureOf(WriteUnclosed<Engine>(run)); });
      break;
  }
  SyncFiles(run.settings.directory);
  return figure;
}

}  // namespace stele_compare
