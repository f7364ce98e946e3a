#include "bench/workload.h"

#include <algorithm>
#include <array>

#include "base/status.h"

namespace stele::cli {
namespace {

using Kind = OperationKind;
constexpr auto kZipfian = Distribution::Kind::kZipfian;
constexpr auto kNewest = Distribution::Kind::kLatest;

const std::vector<Workload>& WorkloadList() {
  static const std::vector<Workload> workloads = {
      {.name = "ycsb-a",
       .parts = {{Kind::kRead, 0.5}, {Kind::kUpdate, 0.5}},
       .distribution = kZipfian},
      {.name = "ycsb-b",
       .parts = {{Kind::kRead, 0.95}, {Kind::kUpdate, 0.05}},
       .distribution = kZipfian},
      {.name = "ycsb-c", .parts = {{Kind::kRead, 1}}, .distribution = kZipfian},
      {.name = "ycsb-d",
       .parts = {{Kind::kRead, 0.95}, {Kind::kInsert, 0.05}},
       .distribution = kNewest},
      {.name = "ycsb-e",
       .parts = {{Kind::kScan, 0.95}, {Kind::kInsert, 0.05}},
       .distribution = kZipfian,
       .scans_uniform_lengths = true},
      {.name = "ycsb-f",
       .parts = {{Kind::kRead, 0.5}, {Kind::kReadModifyWrite, 0.5}},
       .distribution = kZipfian},
      {.name = "get", .parts = {{Kind::kRead, 1}}},
      {.name = "get-missing", .parts = {{Kind::kReadMissing, 1}}},
      {.name = "mget", .parts = {{Kind::kReadMany, 1}}},
      {.name = "scan", .parts = {{Kind::kScan, 1}}},
      {.name = "reverse", .parts = {{Kind::kReverseScan, 1}}},
      {.name = "prefix", .parts = {{Kind::kPrefixScan, 1}}},
      {.name = "range", .parts = {{Kind::kScan, 1}}, .scans_by_selectivity = true},
      {.name = "project", .parts = {{Kind::kProject, 1}}},
      {.name = "latest", .parts = {{Kind::kLatest, 1}}},
      {.name = "filter", .parts = {{Kind::kFilter, 1}}},
      {.name = "put", .parts = {{Kind::kInsert, 1}}},
      {.name = "update", .parts = {{Kind::kUpdate, 1}}},
      {.name = "delete", .parts = {{Kind::kDelete, 1}}},
      {.name = "increment", .parts = {{Kind::kIncrement, 1}}},
      {.name = "check-and-mutate", .parts = {{Kind::kCheckAndMutate, 1}}},
      {.name = "bulk", .parts = {{Kind::kBulk, 1}}},
  };
  return workloads;
}

constexpr auto kAll =
    std::to_array<std::string_view>({"get", "mget", "scan", "reverse", "prefix", "range", "project",
                                     "latest", "put", "update", "increment", "check-and-mutate"});

}  // namespace

Distribution DistributionOf(const OperationOptions& options, const Workload& workload) {
  Distribution distribution = options.distribution;
  if (workload.distribution.has_value()) distribution.kind = *workload.distribution;
  return distribution;
}

std::string_view NameOf(OperationKind kind) {
  switch (kind) {
    case Kind::kRead:
    case Kind::kReadMissing:
      return "read";
    case Kind::kReadMany:
      return "mread";
    case Kind::kScan:
      return "scan";
    case Kind::kReverseScan:
      return "rscan";
    case Kind::kPrefixScan:
      return "prefix";
    case Kind::kProject:
      return "project";
    case Kind::kLatest:
      return "latest";
    case Kind::kFilter:
      return "filter";
    case Kind::kQuery:
      return "query";
    case Kind::kInsert:
      return "insert";
    case Kind::kUpdate:
      return "update";
    case Kind::kDelete:
      return "delete";
    case Kind::kIncrement:
      return "increment";
    case Kind::kCheckAndMutate:
      return "check-and-mutate";
    case Kind::kReadModifyWrite:
      return "read-modify-write";
    case Kind::kBulk:
      return "bulk";
  }
  return "";
}

bool Writes(OperationKind kind) { return kind >= Kind::kInsert; }

std::span<const Workload> Workloads() { return WorkloadList(); }

std::span<const std::string_view> AllWorkloads() { return kAll; }

std::string ToText(const Operation& operation, const KeyFormat& keys) {
  std::string text(NameOf(operation.kind));
  const auto add = [&text](const std::string& word) { text.append(" ").append(word); };
  switch (operation.kind) {
    case Kind::kReadMissing:
      add(keys.KeyOf(operation.row) + "+");
      break;
    case Kind::kReadMany:
      for (const uint64_t row : operation.rows) add(keys.KeyOf(row));
      break;
    case Kind::kPrefixScan: {
      const std::string key = keys.KeyOf(operation.row);
      add(key.substr(0, key.size() - 2));
      break;
    }
    case Kind::kUpdate:
    case Kind::kReadModifyWrite:
    case Kind::kCheckAndMutate:
      add(keys.KeyOf(operation.row));
      add(FieldName(operation.field));
      break;
    default:
      add(keys.KeyOf(operation.row));
      if (operation.row_count > 0) add(std::to_string(operation.row_count));
  }
  return text;
}

OperationStream::OperationStream(const OperationOptions& options, const Workload& workload,
                                 uint64_t thread, InsertCounter* inserts)
    : options_(options),
      workload_(workload),
      inserts_(*inserts),
      random_(options.seed + thread),
      rows_(DistributionOf(options, workload), options.rows,
            thread * (options.rows / std::max<uint64_t>(1, options.threads)),
            inserts->rows() - options.rows) {}

const Operation& OperationStream::Next() {
  operation_.kind = NextKind();
  operation_.row_count = 0;
  switch (operation_.kind) {
    case Kind::kInsert:
      operation_.row = inserts_.Take(1);
      return operation_;
    case Kind::kBulk:
      operation_.row_count = kBulkRows;
      operation_.row = inserts_.Take(kBulkRows);
      return operation_;
    case Kind::kReadMany:
      operation_.rows.clear();
      for (uint64_t i = 0; i < kReadManyRows; ++i)
        operation_.rows.push_back(rows_.Next(&random_, inserts_.rows()));
      return operation_;
    default:
      break;
  }
  operation_.row = rows_.Next(&random_, inserts_.rows());
  switch (operation_.kind) {
    case Kind::kScan:
    case Kind::kReverseScan:
    case Kind::kLatest:
    case Kind::kFilter:
      operation_.row_count = ScanRows();
      break;
    case Kind::kProject:
      operation_.row_count = ScanRows();
      operation_.field = 0;
      break;
    case Kind::kUpdate:
    case Kind::kReadModifyWrite:
    case Kind::kCheckAndMutate:
      operation_.field = random_.Below(options_.fields);
      break;
    default:
      break;
  }
  return operation_;
}

OperationKind OperationStream::NextKind() {
  if (workload_.parts.size() == 1) return workload_.parts[0].kind;
  double unit = random_.Unit();
  for (const Workload::Part& part : workload_.parts) {
    if (unit < part.share) return part.kind;
    unit -= part.share;
  }
  return workload_.parts.back().kind;
}

uint64_t OperationStream::ScanRows() {
  if (workload_.scans_by_selectivity) {
    return std::max<uint64_t>(
        1, static_cast<uint64_t>(options_.selectivity * static_cast<double>(options_.rows)));
  }
  return workload_.scans_uniform_lengths ? 1 + random_.Below(options_.scan_rows)
                                         : options_.scan_rows;
}

}  // namespace stele::cli
