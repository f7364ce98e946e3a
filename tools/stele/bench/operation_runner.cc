#include "bench/operation_runner.h"

#include <utility>

#include "base/status.h"
#include "bench/calls.h"
#include "bench/table.h"

namespace stele::cli {

OperationRunner::OperationRunner(const BenchOptions& options, const Workload& workload, Table table)
    : options_(options),
      workload_(workload),
      table_(std::move(table)),
      values_(options.operations.seed, options.value_bytes),
      project_(Filter::Column(std::string(kBenchFamily), FieldName(0))),
      latest_(Filter::Latest(1)),
      matching_(Filter::ValueRegex(std::string(kMatchingValue))) {}

void OperationRunner::Prepare(const Operation& operation) {
  if (operation.kind == OperationKind::kQuery)
    query_read_ = workload_.query->Prepare(operation.row);
}

absl::Status OperationRunner::Run(const Operation& operation, BenchCounts* counts) {
  switch (operation.kind) {
    case OperationKind::kRead:
    case OperationKind::kReadMissing:
      return Read(operation, counts);
    case OperationKind::kReadMany:
      return ReadMany(operation, counts);
    case OperationKind::kScan:
    case OperationKind::kReverseScan:
    case OperationKind::kPrefixScan:
    case OperationKind::kProject:
    case OperationKind::kLatest:
    case OperationKind::kFilter:
      return Scan(operation, counts);
    case OperationKind::kQuery:
      STELE_RETURN_IF_ERROR(query_read_.status());
      return (*query_read_)->Run(table_, MakeReadOptions(), counts);
    case OperationKind::kInsert:
      return Insert(operation, counts);
    case OperationKind::kUpdate:
      return Update(operation, counts);
    case OperationKind::kDelete:
      ++counts->rows;
      return table_.Apply(RowMutation(options_.keys.KeyOf(operation.row)).DeleteFromRow(),
                          MakeWriteOptions());
    case OperationKind::kIncrement:
      return Increment(operation, counts);
    case OperationKind::kCheckAndMutate:
      return CheckAndMutate(operation, counts);
    case OperationKind::kReadModifyWrite:
      STELE_RETURN_IF_ERROR(Read(operation, counts));
      return Update(operation, counts);
    case OperationKind::kBulk:
      return Bulk(operation, counts);
  }
  return absl::InternalError("unknown operation");
}

absl::Status OperationRunner::Read(const Operation& operation, BenchCounts* counts) {
  std::string key = options_.keys.KeyOf(operation.row);
  const bool is_missing = operation.kind == OperationKind::kReadMissing;
  if (is_missing) key += '+';
  STELE_ASSIGN_OR_RETURN(const auto row, table_.ReadRow(key, {}, MakeReadOptions()));
  if (is_missing && row.has_value()) return absl::InternalError(fmt::format("row {} exists", key));
  if (!row.has_value()) return absl::OkStatus();  // never written, or deleted by the workload
  ++counts->rows;
  Count(row->cells(), counts);
  return absl::OkStatus();
}

absl::Status OperationRunner::ReadMany(const Operation& operation, BenchCounts* counts) {
  std::vector<std::string> keys;
  for (const uint64_t row : operation.rows) keys.push_back(options_.keys.KeyOf(row));
  STELE_ASSIGN_OR_RETURN(
      const auto rows, table_.ReadMany(std::span<const std::string>(keys), {}, MakeReadOptions()));
  for (const auto& row : rows) {
    if (!row.has_value()) continue;
    ++counts->rows;
    Count(row->cells(), counts);
  }
  return absl::OkStatus();
}

absl::Status OperationRunner::Scan(const Operation& operation, BenchCounts* counts) {
  const std::string key = options_.keys.KeyOf(operation.row);
  ReadOptions options = MakeReadOptions();
  options.limit = static_cast<int64_t>(operation.row_count);
  RowRange range = RowRange::StartingAt(key);
  Filter filter;
  switch (operation.kind) {
    case OperationKind::kReverseScan:
      options.reverse = true;
      // Without the row that marks the table on a server.
      range = RowRange::Closed(options_.keys.LowerBound(), key);
      break;
    case OperationKind::kPrefixScan:
      range = RowRange::Prefix(key.substr(0, key.size() - 2));
      break;
    case OperationKind::kProject:
      filter = project_;
      break;
    case OperationKind::kLatest:
      filter = latest_;
      break;
    case OperationKind::kFilter:
      filter = matching_;
      break;
    default:
      break;
  }
  RowReader reader = table_.ReadRows(range, filter, options);
  for (const RowView& row : reader) {
    if (row.is_last_piece()) ++counts->rows;
    Count(row.cells(), counts);
  }
  counts->bytes_read += reader.stats().bytes_read;
  return reader.status();
}

absl::Status OperationRunner::Insert(const Operation& operation, BenchCounts* counts) {
  ++counts->rows;
  counts->cells += options_.operations.fields * options_.versions;
  counts->value_bytes += options_.operations.fields * options_.versions * options_.value_bytes;
  return table_.Apply(BenchRow(options_, operation.row, &values_), MakeWriteOptions());
}

RowMutation OperationRunner::UpdateOf(const Operation& operation, BenchCounts* counts) {
  RowMutation mutation(options_.keys.KeyOf(operation.row));
  mutation.SetCell(kBenchFamily, FieldName(operation.field),
                   values_.Make(operation.row, operation.field, ++updates_));
  ++counts->rows;
  ++counts->cells;
  counts->value_bytes += options_.value_bytes;
  return mutation;
}

absl::Status OperationRunner::Update(const Operation& operation, BenchCounts* counts) {
  return table_.Apply(UpdateOf(operation, counts), MakeWriteOptions());
}

// The predicate is that the field exists. It is set in either case.
absl::Status OperationRunner::CheckAndMutate(const Operation& operation, BenchCounts* counts) {
  const RowMutation mutation = UpdateOf(operation, counts);
  const Filter exists = Filter::Column(std::string(kBenchFamily), FieldName(operation.field));
  return table_
      .CheckAndMutateRow(mutation.row_key(), exists, mutation, mutation, MakeWriteOptions())
      .status();
}

absl::Status OperationRunner::Increment(const Operation& operation, BenchCounts* counts) {
  ++counts->rows;
  ++counts->cells;
  counts->value_bytes += sizeof(int64_t);
  return table_
      .ReadModifyWriteRow(options_.keys.KeyOf(operation.row),
                          {ReadModifyWriteRule::IncrementAmount(std::string(kBenchFamily),
                                                                std::string(kCounterColumn), 1)},
                          MakeWriteOptions())
      .status();
}

absl::Status OperationRunner::Bulk(const Operation& operation, BenchCounts* counts) {
  std::vector<RowMutation> mutations;
  for (uint64_t i = 0; i < operation.row_count; ++i)
    mutations.push_back(BenchRow(options_, operation.row + i, &values_));
  const uint64_t cells = operation.row_count * options_.operations.fields * options_.versions;
  counts->rows += operation.row_count;
  counts->cells += cells;
  counts->value_bytes += cells * options_.value_bytes;
  const auto failed = table_.BulkApply(mutations, MakeWriteOptions());
  return failed.empty() ? absl::OkStatus() : failed.front().status;
}

}  // namespace stele::cli
