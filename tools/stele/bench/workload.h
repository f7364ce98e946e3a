// tools/stele/bench/workload.h: the workloads of `stele bench` and their operations. Operations
// depend on the options, the workload, the thread and the seed only, not on any database.
//
// Threads:   InsertCounter is thread-safe. Each thread has its own OperationStream.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/random.h"
#include "bench/rows.h"

namespace stele::cli {

class QueryWorkload;

enum class OperationKind : uint8_t {
  kRead,
  kReadMissing,
  kReadMany,
  kScan,
  kReverseScan,
  kPrefixScan,
  kProject,  // a scan of one column
  kLatest,   // a scan of the newest version of each column
  kFilter,   // a scan with a value regex
  kQuery,    // a query of a design; `row` is the number of a record
  kInsert,
  kUpdate,
  kDelete,
  kIncrement,
  kCheckAndMutate,
  kReadModifyWrite,  // a read, then an update of the same row
  kBulk,
};
// The word of --dry-run, and the tag of a histogram log.
std::string_view NameOf(OperationKind kind);
// True if the operation changes the table.
bool Writes(OperationKind kind);

struct Workload {
  struct Part {
    OperationKind kind;
    double share;
  };
  std::string_view name;
  std::vector<Part> parts;                         // their shares add up to 1
  std::optional<Distribution::Kind> distribution;  // of YCSB; else --distribution decides
  bool scans_uniform_lengths = false;              // 1 to --scan-rows rows
  bool scans_by_selectivity = false;     // --selectivity of the rows, instead of --scan-rows
  const QueryWorkload* query = nullptr;  // of kQuery
};

std::span<const Workload> Workloads();
// The workloads that "all" means.
std::span<const std::string_view> AllWorkloads();

// The options that the operations depend on.
struct OperationOptions {
  uint64_t rows = 1'000'000;
  uint64_t fields = 10;
  Distribution distribution;
  uint64_t scan_rows = 100;
  double selectivity = 0.001;
  uint64_t threads = 1;
  uint64_t seed = 1;
};

// The distribution of the rows of a workload: its own, or that of the options.
Distribution DistributionOf(const OperationOptions& options, const Workload& workload);

struct Operation {
  OperationKind kind = OperationKind::kRead;
  // The row. kReadMany reads ten rows; kBulk writes a hundred new rows from this one on.
  uint64_t row = 0;
  std::vector<uint64_t> rows;
  uint64_t row_count = 0;  // of a scan and kBulk
  uint64_t field = 0;      // of kProject, kUpdate, kReadModifyWrite and kCheckAndMutate
};

inline constexpr uint64_t kReadManyRows = 10;
inline constexpr uint64_t kBulkRows = 100;
inline constexpr uint64_t kPrefixRows = 100;

// Prints an operation as --dry-run does: "scan user000000000007 37".
std::string ToText(const Operation& operation, const KeyFormat& keys);

// The number of rows of a table, with those that the workloads of a run insert in all threads.
class InsertCounter {
 public:
  // `rows`: before the first workload.
  explicit InsertCounter(uint64_t rows) : rows_(rows) {}
  // Returns the number of the first of `count` new rows.
  uint64_t Take(uint64_t count) { return rows_.fetch_add(count, std::memory_order_relaxed); }
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> rows_;
};

class OperationStream {
 public:
  // `inserts` must outlive the stream. It begins with options.rows, or has the rows of earlier
  // workloads, too.
  OperationStream(const OperationOptions& options, const Workload& workload, uint64_t thread,
                  InsertCounter* inserts);
  const Operation& Next();

 private:
  OperationKind NextKind();
  uint64_t ScanRows();

  const OperationOptions options_;
  const Workload& workload_;
  InsertCounter& inserts_;
  BenchRandom random_;
  RowChooser rows_;
  Operation operation_;
};

}  // namespace stele::cli
