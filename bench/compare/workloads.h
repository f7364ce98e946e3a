// bench/compare/workloads.h: the workloads, compiled once for each engine.
//
// Used by:   the file of each engine, as Contender::run. The workloads are compiled once for each
//            engine, so that no call per cell is virtual.
// Engine:    A class with these members.
//              static constexpr bool kHasFamilies;             stores each column family apart
//              absl::Status Open(const OpenSettings&);         creates the database if absent
//              absl::Status Write(const RowData&, bool sync);  thread-safe; one atomic row
//              absl::Status Increment(row key);                adds one to its counter; one thread
//              absl::Status WriteMany(rows);                   one batch
//              absl::StatusOr<bool> CheckAndWrite(const RowData&);  one cell; returns whether its
//                                                              column had one; one thread
//              absl::Status DeleteRow(row key, columns);       the row has no other columns
//              absl::Status DeleteRows(row key, row key);      from the first to before the second;
//                                                              on disk when it returns
//              absl::Status BulkAdd(const RowData&);           rows ascend
//              absl::Status BulkFinish();                      all rows are in synced files
//              absl::Status Settle();                          flushes; waits until no background
//                                                              work is left
//              absl::Status Compact();                         into one sorted run
//              absl::Status Close();
//              std::string note() const;                       remark for the report; "": none
//              class Reader {
//                explicit Reader(Engine*);
//                absl::Status Read(row key, latest only, Tally*);
//                absl::Status ReadMany(row keys, columns, Tally*);  rows have no other columns
//                absl::Status Run(const Scan&, Tally*);
//              };
// Threads:   RunWorkload runs alone in its process.
#pragma once

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "bench_operations.h"
#include "contender.h"
#include "increment.h"
#include "measure.h"
#include "mixed.h"
#include "prepare.h"
#include "scan.h"
#include "tally.h"
#include "workload_list.h"

namespace stele_compare {

constexpr uint64_t kGetsMax = 300'000;
constexpr uint64_t kUncachedGetsMax = 20'000;
constexpr uint64_t kShortScansMax = 20'000;
constexpr uint64_t kShortScanRows = 100;
// Repeat a scan, at most 10 times, up to about this many cells: a shorter scan measures nothing.
constexpr uint64_t kScanCells = 5'000'000;
constexpr uint64_t kSyncedCommitsMax = 20'000;  // all threads together

template <typename Engine>
Scan ScanOf(const Workload& workload) {
  Scan scan;
  scan.is_reverse = workload.is_reverse;
  scan.latest_only = workload.latest_only;
  scan.fills_cache = workload.warmth == Warmth::kCached || workload.kind == WorkloadKind::kGet;
  if (workload.one_column && !HasOwnKeyspace<Engine>(workload)) {
    scan.family = kProjectedFamily;
    scan.qualifier = kProjectedQualifier;
  }
  return scan;
}

template <typename Engine>
class WorkloadRunner {
 public:
  // `opening` started before the engine opened its database.
  WorkloadRunner(Engine* engine, const WorkloadRun& run, const Meter& opening)
      : engine_(*engine),
        run_(run),
        opening_(opening),
        workload_(*run.workload),
        rows_(RowCountOf(workload_.data_set, run.rows)) {}

  absl::Status Run() {
    switch (workload_.kind) {
      case WorkloadKind::kBulk:
      case WorkloadKind::kWrite:
      case WorkloadKind::kOverwrite:
        return RunLoad();
      case WorkloadKind::kIncrement:
        return IncrementRunner<Engine>(&engine_, run_, rows_).Run(&figure_);
      case WorkloadKind::kRangeDelete:
        return RunRangeDelete();
      case WorkloadKind::kRecover:
        return RunRecover();
      case WorkloadKind::kSync:
        return RunSync();
      case WorkloadKind::kMixed:
      case WorkloadKind::kBench:
        return RunWarm();
      default:
        return RunRead();
    }
  }
  const Figure& figure() const { return figure_; }

 private:
  absl::Status RunLoad() {
    const Meter meter;
    absl::Status status = workload_.kind == WorkloadKind::kBulk ? LoadSorted() : LoadInOrder();
    if (!status.ok()) return status;
    figure_.seconds = meter.Seconds();
    status = engine_.Settle();
    if (!status.ok()) return status;
    figure_.settle_seconds = meter.Seconds() - figure_.seconds;
    meter.Read(run_.settings.directory, &figure_);
    const bool counts_cells = workload_.kind == WorkloadKind::kBulk;
    figure_.operation_count =
        counts_cells ? rows_ * CellsInRow(workload_.data_set) : figure_.operation_count;
    figure_.value = static_cast<double>(figure_.operation_count) / figure_.seconds;
    return run_.compacts ? engine_.Compact() : absl::OkStatus();
  }

  absl::Status LoadSorted() {
    RowMaker maker(*run_.pool, workload_.data_set);
    for (uint64_t i = 0; i < rows_; ++i) {
      const RowData& row = maker.Make(i);
      figure_.user_bytes += UserBytes(row);
      const absl::Status status = engine_.BulkAdd(row);
      if (!status.ok()) return status;
    }
    return engine_.BulkFinish();
  }

  // Writes each row once in random order. To overwrite, writes random rows, ten times as many as
  // there are rows.
  absl::Status LoadInOrder() {
    RowMaker maker(*run_.pool, workload_.data_set);
    const bool overwrites = workload_.kind == WorkloadKind::kOverwrite;
    const std::vector<uint32_t> order =
        overwrites ? std::vector<uint32_t>() : Shuffled(rows_, run_.seed);
    const uint64_t count = overwrites ? rows_ * 10 : rows_;
    Latencies latencies(count);
    for (uint64_t i = 0; i < count; ++i) {
      const RowData& row =
          overwrites ? maker.Make(Mix(i ^ (run_.seed << 32)) % rows_, i) : maker.Make(order[i]);
      figure_.user_bytes += UserBytes(row);
      const Clock::time_point start = Clock::now();
      const absl::Status status = engine_.Write(row, /*sync=*/false);
      if (!status.ok()) return status;
      latencies.Add(Clock::now() - start);
    }
    figure_.operation_count = count;
    latencies.Read(&figure_);
    return absl::OkStatus();
  }

  // Deletes the middle half of the rows, and then checks that the others are left.
  absl::Status RunRangeDelete() {
    const uint64_t first = rows_ / 4;
    const uint64_t count = rows_ / 2;
    const Meter meter;
    absl::Status status = engine_.DeleteRows(RowKeyOf(first), RowKeyOf(first + count));
    if (!status.ok()) return status;
    figure_.seconds = meter.Seconds();
    status = engine_.Settle();
    if (!status.ok()) return status;
    figure_.settle_seconds = meter.Seconds() - figure_.seconds;
    meter.Read(run_.settings.directory, &figure_);
    figure_.operation_count = count;
    figure_.value = static_cast<double>(count) / figure_.seconds;
    Tally tally;
    typename Engine::Reader reader(&engine_);
    status = reader.Run({}, &tally);
    if (!status.ok()) return status;
    TakeHash(&tally);
    return tally.rows() == rows_ - count ? absl::OkStatus()
                                         : absl::InternalError("other rows are left");
  }

  // Reads the first row, and then checks that all are there.
  absl::Status RunRecover() {
    typename Engine::Reader reader(&engine_);
    Tally tally;
    absl::Status status = reader.Read(RowKeyOf(0), /*latest_only=*/false, &tally);
    if (!status.ok()) return status;
    figure_.seconds = opening_.Seconds();
    opening_.Read(run_.settings.directory, &figure_);
    figure_.operation_count = rows_;
    figure_.value = static_cast<double>(rows_) / figure_.seconds;
    RowMaker maker(*run_.pool, workload_.data_set);
    for (uint64_t i = 0; i < rows_; ++i) {
      figure_.user_bytes += UserBytes(maker.Make(i));
      if (i > 0) status = reader.Read(RowKeyOf(i), /*latest_only=*/false, &tally);
      if (!status.ok()) return status;
    }
    TakeHash(&tally);
    return tally.rows() == rows_ ? absl::OkStatus() : absl::InternalError("rows are missing");
  }

  void TakeHash(Tally* tally) {
    tally->Finish();
    figure_.hash = tally->hash();
    figure_.cell_count = tally->cells();
  }

  // Writes without sync first, so that the logs are in the state of an engine that has worked for a
  // while.
  absl::Status RunSync() {
    RowMaker maker(*run_.pool, workload_.data_set);
    for (uint64_t i = 0; i < rows_; ++i) {
      const absl::Status status = engine_.Write(maker.Make(i), /*sync=*/false);
      if (!status.ok()) return status;
    }
    const size_t thread_count = static_cast<size_t>(workload_.thread_count);
    const uint64_t commits =
        std::max<uint64_t>(1, std::min(kSyncedCommitsMax, rows_ / 200) / thread_count);
    std::vector<Latencies> latencies(thread_count, Latencies(0));
    std::vector<absl::Status> statuses(thread_count);
    const Meter meter;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < thread_count; ++i) {
      threads.emplace_back([this, i, commits, &latencies, &statuses] {
        statuses[i] = CommitSynced(i, commits, &latencies[i]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    figure_.seconds = meter.Seconds();
    meter.Read(run_.settings.directory, &figure_);
    for (size_t i = 0; i < thread_count; ++i) {
      if (!statuses[i].ok()) return statuses[i];
      if (i > 0) latencies[0].Append(latencies[i]);
    }
    latencies[0].Read(&figure_);
    figure_.operation_count = commits * thread_count;
    figure_.value = static_cast<double>(figure_.operation_count) / figure_.seconds;
    return absl::OkStatus();
  }

  absl::Status CommitSynced(size_t thread_index, uint64_t commits, Latencies* latencies) {
    RowMaker maker(*run_.pool, workload_.data_set);
    for (uint64_t i = 0; i < commits; ++i) {
      const RowData& row = maker.Make(Mix(run_.seed + thread_index * commits + i) % rows_, i + 1);
      const Clock::time_point start = Clock::now();
      const absl::Status status = engine_.Write(row, /*sync=*/true);
      if (!status.ok()) return status;
      latencies->Add(Clock::now() - start);
    }
    return absl::OkStatus();
  }

  // Twice, because a cache may keep a page only at its second access.
  absl::Status WarmCache(typename Engine::Reader* reader) {
    for (int pass = 0; pass < 2 && workload_.warmth == Warmth::kCached; ++pass) {
      Tally warm;
      const absl::Status status = reader->Run({.fills_cache = true}, &warm);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status RunWarm() {
    {
      typename Engine::Reader reader(&engine_);
      const absl::Status warmed = WarmCache(&reader);
      if (!warmed.ok()) return warmed;
    }
    if (workload_.kind == WorkloadKind::kMixed)
      return MixedRunner<Engine>(&engine_, run_, rows_).Run(&figure_);
    return BenchRunner<Engine>(&engine_, run_, rows_).Run(&figure_);
  }

  absl::Status RunRead() {
    typename Engine::Reader reader(&engine_);
    absl::Status status = WarmCache(&reader);
    if (!status.ok()) return status;
    Tally tally;
    const Meter meter;
    status = ReadTimed(&reader, &tally);
    if (!status.ok()) return status;
    figure_.seconds = meter.Seconds();
    meter.Read(run_.settings.directory, &figure_);
    TakeHash(&tally);
    const bool counts_cells =
        workload_.kind == WorkloadKind::kScan || workload_.kind == WorkloadKind::kScanShort;
    if (counts_cells) figure_.operation_count = tally.cells();
    figure_.value = static_cast<double>(figure_.operation_count) / figure_.seconds;
    return Verdict(tally);
  }

  // Checks that the rows read exist, independently of the other engines.
  absl::Status Verdict(const Tally& tally) const {
    const uint64_t rows_expected =
        workload_.kind == WorkloadKind::kGetMiss ? 0 : figure_.operation_count;
    if (workload_.kind == WorkloadKind::kGetMiss || workload_.kind == WorkloadKind::kGet ||
        workload_.kind == WorkloadKind::kGetAscending) {
      if (tally.rows() == rows_expected) return absl::OkStatus();
      return absl::InternalError("read " + std::to_string(tally.rows()) + " rows, not " +
                                 std::to_string(rows_expected));
    }
    return tally.cells() > 0 ? absl::OkStatus() : absl::InternalError("read nothing");
  }

  absl::Status ReadTimed(typename Engine::Reader* reader, Tally* tally) {
    switch (workload_.kind) {
      case WorkloadKind::kGet:
        return ReadRows(reader, workload_.warmth == Warmth::kCached ? kGetsMax : kUncachedGetsMax,
                        tally);
      case WorkloadKind::kGetAscending:
      case WorkloadKind::kGetMiss:
        return ReadRows(reader, kGetsMax, tally);
      case WorkloadKind::kScanShort:
        return ReadShortScans(reader, tally);
      default:
        return ReadAll(reader, tally);
    }
  }

  absl::Status ReadRows(typename Engine::Reader* reader, uint64_t count_max, Tally* tally) {
    // There are few rows of many versions, so each is read often.
    const uint64_t count = std::min(workload_.latest_only ? 10 * rows_ : rows_, count_max);
    const bool misses = workload_.kind == WorkloadKind::kGetMiss;
    const bool ascends = workload_.kind == WorkloadKind::kGetAscending;
    Latencies latencies(count);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t row_index = ascends ? i : Mix(i ^ (run_.seed << 40)) % rows_;
      const std::string row_key = misses ? MissingKeyAfter(row_index) : RowKeyOf(row_index);
      const Clock::time_point start = Clock::now();
      const absl::Status status = reader->Read(row_key, workload_.latest_only, tally);
      if (!status.ok()) return status;
      latencies.Add(Clock::now() - start);
    }
    figure_.operation_count = count;
    latencies.Read(&figure_);
    return absl::OkStatus();
  }

  absl::Status ReadShortScans(typename Engine::Reader* reader, Tally* tally) {
    const uint64_t count = std::min(std::max<uint64_t>(1, rows_ / 10), kShortScansMax);
    Latencies latencies(count);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string row_key = RowKeyOf(Mix(i ^ (run_.seed << 40)) % rows_);
      const Clock::time_point start = Clock::now();
      const absl::Status status =
          reader->Run({.start = row_key, .row_limit = kShortScanRows, .fills_cache = true}, tally);
      if (!status.ok()) return status;
      latencies.Add(Clock::now() - start);
    }
    latencies.Read(&figure_);
    return absl::OkStatus();
  }

  absl::Status ReadAll(typename Engine::Reader* reader, Tally* tally) {
    const uint64_t cells = rows_ * CellsInRow(workload_.data_set);
    const uint64_t passes =
        workload_.warmth == Warmth::kCold ? 1 : std::clamp<uint64_t>(kScanCells / cells, 1, 10);
    for (uint64_t pass = 0; pass < passes; ++pass) {
      const absl::Status status = reader->Run(ScanOf<Engine>(workload_), tally);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  Engine& engine_;
  const WorkloadRun& run_;
  const Meter& opening_;
  const Workload& workload_;
  const uint64_t rows_;
  Figure figure_;
};

template <typename Engine>
Figure RunWorkload(const WorkloadRun& asked) {
  const Figure prepared = Prepare<Engine>(asked);
  if (prepared.error[0] != '\0') return prepared;
  WorkloadRun run = asked;
  run.settings = SettingsFor<Engine>(asked);
  if (run.workload->warmth == Warmth::kCold) {
    DropFromPageCache(run.settings.directory);
  } else if (!run.workload->StartsEmpty()) {
    ReadFiles(run.settings.directory);
  }
  Engine engine;
  const Meter opening;
  WorkloadRunner<Engine> runner(&engine, run, opening);
  absl::Status status = engine.Open(run.settings);
  if (status.ok()) status = runner.Run();
  Figure figure = runner.figure();
  SetText(figure.note, sizeof figure.note, engine.note());
  const absl::Status closed = engine.Close();
  if (status.ok()) status = closed;
  if (!status.ok()) SetText(figure.error, sizeof figure.error, FigureOf(status).error);
  return figure;
}

}  // namespace stele_compare
