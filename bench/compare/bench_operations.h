// bench/compare/bench_operations.h: runs a workload of `stele bench`: the same operations on the
// same rows, made by the code of `stele bench`.
//
// Same work: the operations depend only on the workload, the number of rows and the seed. The data
//            read is compared among the engines; after writes, the whole table is.
// Columns:   the key-value engines know the columns of a row, so that they can get and delete its
//            cells by key.
// Threads:   one thread.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/workload.h"
#include "contender.h"
#include "measure.h"
#include "scan.h"
#include "tally.h"
#include "workload_list.h"

namespace stele_compare {

constexpr uint64_t kBenchRowsRead = 2'000'000;  // by all scans together
constexpr uint64_t kBenchRowsChosen = 300'000;  // by all other operations together

template <typename Engine>
class BenchRunner {
 public:
  // `rows`: the rows that were loaded.
  BenchRunner(Engine* engine, const WorkloadRun& run, uint64_t rows)
      : engine_(*engine),
        run_(run),
        rows_(rows),
        position_(static_cast<uint64_t>(run.workload - Workloads().data()) + 1),
        reader_(engine),
        makers_(stele::cli::kBulkRows, RowMaker(*run.pool, run.workload->data_set)) {}

  absl::Status Run(Figure* figure) {
    const stele::cli::Workload* const workload = Find(run_.workload->name);
    if (workload == nullptr) return absl::InternalError("stele bench has no such workload");
    const Kind kind = workload->parts.front().kind;
    const uint64_t count = OperationCountOf(*workload);
    stele::cli::InsertCounter inserts(rows_);
    stele::cli::OperationStream operations(Options(), *workload, /*thread=*/0, &inserts);
    Latencies latencies(count);
    const Meter meter;
    for (uint64_t i = 0; i < count; ++i) {
      const stele::cli::Operation& operation = operations.Next();
      const Clock::time_point start = Clock::now();
      const absl::Status status = Operate(operation);
      if (!status.ok()) return status;
      latencies.Add(Clock::now() - start);
    }
    figure->seconds = meter.Seconds();
    const absl::Status settled = Writes(kind) ? engine_.Settle() : absl::OkStatus();
    if (!settled.ok()) return settled;
    figure->settle_seconds = meter.Seconds() - figure->seconds;
    meter.Read(run_.settings.directory, figure);
    latencies.Read(figure);
    figure->operation_count = IsScan(kind) ? tally_.cells() : count;
    figure->value = static_cast<double>(figure->operation_count) / figure->seconds;
    figure->user_bytes = user_bytes_;
    if (Writes(kind)) return TakeTable(kind, count, figure);
    TakeHash(&tally_, figure);
    return CheckReads(kind, count);
  }

 private:
  using Kind = stele::cli::OperationKind;

  static const stele::cli::Workload* Find(std::string_view name) {
    for (const stele::cli::Workload& workload : stele::cli::Workloads()) {
      if (workload.name == name && workload.parts.size() == 1) return &workload;
    }
    return nullptr;
  }
  stele::cli::OperationOptions Options() const {
    stele::cli::OperationOptions options;
    options.rows = rows_;
    options.fields = BenchColumns().size();
    options.seed = run_.seed;
    return options;
  }
  static bool IsScan(Kind kind) {
    return kind == Kind::kScan || kind == Kind::kReverseScan || kind == Kind::kPrefixScan ||
           kind == Kind::kProject || kind == Kind::kLatest || kind == Kind::kFilter;
  }

  uint64_t OperationCountOf(const stele::cli::Workload& workload) const {
    const Kind kind = workload.parts.front().kind;
    const uint64_t rows = std::min(IsScan(kind) ? kBenchRowsRead : kBenchRowsChosen, 10 * rows_);
    uint64_t rows_of_one = 1;
    if (kind == Kind::kReadMany) rows_of_one = stele::cli::kReadManyRows;
    if (kind == Kind::kBulk) rows_of_one = stele::cli::kBulkRows;
    if (kind == Kind::kPrefixScan) rows_of_one = stele::cli::kPrefixRows;
    if (IsScan(kind) && kind != Kind::kPrefixScan) {
      stele::cli::InsertCounter inserts(rows_);
      rows_of_one = stele::cli::OperationStream(Options(), workload, 0, &inserts).Next().row_count;
    }
    if (kind == Kind::kFilter) rows_of_one *= 10;  // one row in ten matches
    return std::max<uint64_t>(1, rows / rows_of_one);
  }

  absl::Status Operate(const stele::cli::Operation& operation) {
    const std::string row_key = KeyOf(operation.row);
    switch (operation.kind) {
      case Kind::kRead:
        return reader_.Read(row_key, /*latest_only=*/false, &tally_);
      case Kind::kReadMissing:
        return reader_.Read(row_key + "+", /*latest_only=*/false, &tally_);
      case Kind::kReadMany:
        row_keys_.clear();
        for (const uint64_t row : operation.rows) row_keys_.push_back(KeyOf(row));
        return reader_.ReadMany(row_keys_, BenchColumns(), &tally_);
      case Kind::kInsert:
        return Write(makers_.front().Make(IndexOf(operation.row), NextOverwrite()));
      case Kind::kUpdate:
        return Write(MakeField(operation));
      case Kind::kCheckAndMutate:
        return CheckAndMutate(operation);
      case Kind::kBulk:
        return WriteMany(operation);
      case Kind::kDelete:
        return engine_.DeleteRow(row_key, BenchColumnsAndCounter());
      case Kind::kIncrement:
        return engine_.Increment(row_key);
      default:
        return ScanRows(operation, row_key);
    }
  }

  absl::Status ScanRows(const stele::cli::Operation& operation, const std::string& row_key) {
    Scan scan = {.start = row_key, .row_limit = operation.row_count, .fills_cache = true};
    switch (operation.kind) {
      case Kind::kScan:
        break;
      case Kind::kReverseScan:
        scan.is_reverse = true;
        break;
      case Kind::kPrefixScan:
        scan.row_prefix = std::string_view(row_key).substr(0, row_key.size() - 2);
        scan.start = scan.row_prefix;
        break;
      case Kind::kProject:
        scan.family = BenchColumns()[operation.field].family;
        scan.qualifier = BenchColumns()[operation.field].qualifier;
        break;
      case Kind::kLatest:
        scan.latest_only = true;
        break;
      case Kind::kFilter:
        scan.value_start = kMatchingValue;
        break;
      default:
        return absl::InternalError("no engine runs this operation");
    }
    return reader_.Run(scan, &tally_);
  }

  const RowData& MakeField(const stele::cli::Operation& operation) {
    return makers_.front().MakeOneCell(operation.row, NextOverwrite(), operation.field);
  }

  absl::Status Write(const RowData& row) {
    user_bytes_ += UserBytes(row);
    return engine_.Write(row, /*sync=*/false);
  }

  absl::Status CheckAndMutate(const stele::cli::Operation& operation) {
    const RowData& row = MakeField(operation);
    user_bytes_ += UserBytes(row);
    const absl::StatusOr<bool> existed = engine_.CheckAndWrite(row);
    if (existed.ok() && *existed) ++matched_count_;
    return existed.status();
  }

  absl::Status WriteMany(const stele::cli::Operation& operation) {
    batch_.clear();
    for (uint64_t i = 0; i < operation.row_count; ++i) {
      batch_.push_back(makers_[i].Make(IndexOf(operation.row + i), NextOverwrite()));
      user_bytes_ += UserBytes(batch_.back());
    }
    return engine_.WriteMany(batch_);
  }

  std::string KeyOf(uint64_t row) const {
    return run_.workload->data_set == DataSet::kBench ? BenchKeyOf(row) : RowKeyOf(row);
  }
  // This workload's new rows have far greater numbers than those of other workloads.
  uint64_t IndexOf(uint64_t number) const {
    return number < rows_ ? number : rows_ * 10 * position_ + number;
  }
  // Later workloads write later timestamps.
  uint64_t NextOverwrite() { return (position_ << 32) + ++write_count_; }

  static void TakeHash(Tally* tally, Figure* figure) {
    tally->Finish();
    figure->hash = tally->hash();
    figure->cell_count = tally->cells();
  }

  // Checks that the rows read exist, independently of the other engines.
  absl::Status CheckReads(Kind kind, uint64_t count) const {
    uint64_t rows_min = count;
    if (kind == Kind::kReadMany) rows_min *= stele::cli::kReadManyRows;
    if (kind == Kind::kReadMissing || kind == Kind::kFilter) rows_min = 0;
    const bool is_exact = !IsScan(kind);
    if (is_exact ? tally_.rows() == rows_min : tally_.rows() >= rows_min) return absl::OkStatus();
    return absl::InternalError("read " + std::to_string(tally_.rows()) + " rows, not " +
                               std::to_string(rows_min));
  }

  // Reads the table after the writes. Engines stamp counters with the time, and some counters are
  // left after deletes.
  absl::Status TakeTable(Kind kind, uint64_t count, Figure* figure) {
    const bool has_counters = kind == Kind::kIncrement || kind == Kind::kDelete;
    Tally table(has_counters ? Tally::Timestamps::kIgnored : Tally::Timestamps::kHashed);
    const absl::Status status = reader_.Run({.latest_only = true}, &table);
    if (!status.ok()) return status;
    TakeHash(&table, figure);
    if (kind == Kind::kCheckAndMutate && matched_count_ != count)
      return absl::InternalError("found " + std::to_string(matched_count_) + " fields, not " +
                                 std::to_string(count));
    return absl::OkStatus();
  }

  Engine& engine_;
  const WorkloadRun& run_;
  const uint64_t rows_;
  const uint64_t position_;  // of the workload in the list, from 1 on
  typename Engine::Reader reader_;
  std::vector<RowMaker> makers_;  // one for each row of a batch
  std::vector<RowData> batch_;
  std::vector<std::string> row_keys_;  // of one operation
  Tally tally_;
  uint64_t write_count_ = 0;
  uint64_t matched_count_ = 0;
  uint64_t user_bytes_ = 0;
};

}  // namespace stele_compare
