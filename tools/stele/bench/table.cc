#include "bench/table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "progress.h"
#include "session.h"

namespace stele::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr char kDataProperty[] = "bench.data";
constexpr char kRowsProperty[] = "bench.rows";
constexpr std::string_view kChanged = "changed";  // instead of the number of rows
constexpr uint64_t kLoadBatchRows = 100;
// Row keys that are not ascending are sorted in memory for a bulk load, up to this number.
constexpr uint64_t kSortedRowsMax = 20'000'000;

// The properties of a table of bench; empty texts for any other table.
struct Marks {
  std::string data;
  std::string rows;
};

absl::StatusOr<Marks> ReadMarks(const Table& table) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  Marks marks;
  for (const auto& [key, value] : schema.properties()) {
    if (key == kDataProperty) marks.data = value;
    if (key == kRowsProperty) marks.rows = value;
  }
  const bool has_family =
      std::any_of(schema.families().begin(), schema.families().end(),
                  [](const FamilySchema& family) { return family.name == kBenchFamily; });
  if (!marks.data.empty() || !has_family) return marks;
  for (const auto& [property, text] :
       {std::pair(kDataProperty, &marks.data), std::pair(kRowsProperty, &marks.rows)}) {
    STELE_ASSIGN_OR_RETURN(const auto cell, table.ReadCell(kMarkerRow, kBenchFamily, property));
    if (cell.has_value()) *text = cell->value();
  }
  return marks;
}

absl::Status WriteMark(Table* table, const char* property, const std::string& text) {
  const absl::Status set = table->SetProperty(property, text);
  if (set.code() != absl::StatusCode::kUnimplemented) return set;
  RowMutation marker(kMarkerRow);
  marker.SetCell(kBenchFamily, property, Timestamp::FromMillis(1), text);
  return table->Apply(marker);
}

// Calls `add` with the number of each row in key order, or in the order of the numbers if the keys
// are too many to sort.
template <typename Add>
absl::Status ForEachRow(const BenchOptions& options, bool in_key_order, const Add& add) {
  const uint64_t rows = options.operations.rows;
  if (!in_key_order || options.keys.IsAscending(rows)) {
    for (uint64_t row = 0; row < rows; ++row) STELE_RETURN_IF_ERROR(add(row));
    return absl::OkStatus();
  }
  std::vector<std::pair<std::string, uint64_t>> keys;
  keys.reserve(rows);
  for (uint64_t row = 0; row < rows; ++row) keys.emplace_back(options.keys.KeyOf(row), row);
  std::sort(keys.begin(), keys.end());
  for (const auto& [key, row] : keys) STELE_RETURN_IF_ERROR(add(row));
  return absl::OkStatus();
}

bool FitsBulkLoad(const BenchOptions& options) {
  return options.keys.IsAscending(options.operations.rows) ||
         options.operations.rows <= kSortedRowsMax;
}

absl::Status LoadWasStopped() { return internal::Cancelled("stopped during the load"); }

// Returns Unimplemented if the database has no bulk loads. Nothing is written then.
absl::Status LoadInBulk(const BenchOptions& options, const std::stop_token& stop, Table* table,
                        Progress* progress) {
  ValueMaker values(options.operations.seed, options.value_bytes);
  BulkLoad load = table->NewBulkLoad();
  uint64_t done = 0;
  STELE_RETURN_IF_ERROR(ForEachRow(options, /*in_key_order=*/true, [&](uint64_t row) {
    if (stop.stop_requested()) return LoadWasStopped();
    progress->Set(++done);
    return load.Add(BenchRow(options, row, &values));
  }));
  return load.Finish();
}

absl::Status LoadInBatches(const BenchOptions& options, const std::stop_token& stop, Table* table,
                           Progress* progress) {
  ValueMaker values(options.operations.seed, options.value_bytes);
  std::vector<RowMutation> batch;
  uint64_t done = 0;
  const auto write = [&]() -> absl::Status {
    const auto failed = table->BulkApply(batch);
    batch.clear();
    return failed.empty() ? absl::OkStatus() : failed.front().status;
  };
  STELE_RETURN_IF_ERROR(ForEachRow(options, /*in_key_order=*/false, [&](uint64_t row) {
    if (stop.stop_requested()) return LoadWasStopped();
    progress->Set(++done);
    batch.push_back(BenchRow(options, row, &values));
    return batch.size() < kLoadBatchRows ? absl::OkStatus() : write();
  }));
  return batch.empty() ? absl::OkStatus() : write();
}

absl::StatusOr<LoadFigures> Load(const BenchOptions& options, const std::stop_token& stop,
                                 Table* table) {
  const SteadyClock::time_point begin = SteadyClock::now();
  Progress progress("loading", "rows", options.operations.rows);
  absl::Status loaded = internal::Unimplemented("too many keys to sort");
  if (FitsBulkLoad(options)) loaded = LoadInBulk(options, stop, table, &progress);
  if (loaded.code() == absl::StatusCode::kUnimplemented)
    loaded = LoadInBatches(options, stop, table, &progress);
  STELE_RETURN_IF_ERROR(loaded);
  progress.End();
  LoadFigures figures{.rows = options.operations.rows};
  figures.cells = figures.rows * options.operations.fields * options.versions;
  figures.value_bytes = figures.cells * options.value_bytes;
  figures.time = SteadyClock::now() - begin;
  return figures;
}

// Fills a new table, with its marks.
absl::StatusOr<LoadFigures> Fill(const BenchOptions& options, const std::stop_token& stop,
                                 Table* table) {
  STELE_RETURN_IF_ERROR(WriteMark(table, kDataProperty, options.DataText()));
  STELE_ASSIGN_OR_RETURN(const LoadFigures load, Load(options, stop, table));
  STELE_RETURN_IF_ERROR(WriteMark(table, kRowsProperty, std::to_string(options.operations.rows)));
  return load;
}

}  // namespace

bool ChangesRows(const Workload& workload) {
  constexpr OperationKind kKinds[] = {OperationKind::kInsert, OperationKind::kBulk,
                                      OperationKind::kDelete, OperationKind::kIncrement};
  return std::any_of(workload.parts.begin(), workload.parts.end(), [&](const auto& part) {
    return std::find(std::begin(kKinds), std::end(kKinds), part.kind) != std::end(kKinds);
  });
}

absl::Status MarkChanged(Table* table) {
  return WriteMark(table, kRowsProperty, std::string(kChanged));
}

RowMutation BenchRow(const BenchOptions& options, uint64_t row, ValueMaker* values) {
  RowMutation mutation(options.keys.KeyOf(row));
  for (uint64_t field = 0; field < options.operations.fields; ++field) {
    const std::string name = FieldName(field);
    for (uint64_t version = 0; version < options.versions; ++version) {
      mutation.SetCell(kBenchFamily, name, Timestamp::FromMillis(static_cast<int64_t>(1 + version)),
                       values->Make(row, field, version));
    }
  }
  return mutation;
}

absl::StatusOr<BenchTable> PrepareBenchTable(Database* database, const BenchOptions& options,
                                             const std::stop_token& stop) {
  const std::string rows = std::to_string(options.operations.rows);
  auto opened = database->OpenTable(options.table);
  if (!opened.ok() && opened.status().code() != absl::StatusCode::kNotFound) return opened.status();
  if (opened.ok()) {
    STELE_ASSIGN_OR_RETURN(const Marks marks, ReadMarks(*opened));
    if (marks.data.empty()) {
      return internal::FailedPrecondition(
          "bench did not create the table {}, and changes only its own tables: name another one "
          "with --table",
          options.table);
    }
    if (marks.data == options.DataText() && marks.rows == rows) return BenchTable{.table = *opened};
    if (options.load == BenchOptions::Load::kNever) {
      return internal::FailedPrecondition(
          "the table {} has {}{}, not {}: repeat without --load never", options.table, marks.data,
          marks.rows.empty()       ? " and is not complete"
          : marks.rows == kChanged ? " with rows that a workload wrote or deleted"
                                   : "",
          options.DataText());
    }
    STELE_RETURN_IF_ERROR(database->DeleteTable(options.table));
  } else if (options.load == BenchOptions::Load::kNever) {
    return internal::FailedPrecondition(
        "there is no table {}: create it with \"stele bench WORKLOAD --load only\"", options.table);
  }
  Schema schema;
  schema.AddFamily(std::string(kBenchFamily),
                   GcRule::MaxNumVersions(static_cast<int32_t>(options.versions)));
  STELE_ASSIGN_OR_RETURN(Table table, database->CreateTable(options.table, schema));
  const absl::StatusOr<LoadFigures> load = Fill(options, stop, &table);
  if (!load.ok()) {
    if (!options.keeps_table) database->DeleteTable(options.table).IgnoreError();
    return load.status();
  }
  return BenchTable{.table = std::move(table), .is_created = true, .load = *load};
}

}  // namespace stele::cli
