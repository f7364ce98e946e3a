// tests/support/db_workload.h: small databases for tests of crashes, faults and damage: their
// options, a workload of random steps, and their contents as text.
//
// How:       A workload is a list of steps made from a seed. The same step on the same state has
//            the same effect. So a database with a fault can be compared with one without.
// Threads:   Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/local_database.h"
#include "stele/stele.h"

namespace stele::internal {

// Options without background threads, with sizes so small that a few dozen writes fill memtables
// and log segments.
EngineOptions SmallEngineOptions(FileSystem* file_system);

// Prints every table, family and cell that a read returns. With `stored`, also prints cells that GC
// rules have made garbage. Returns an error if rows are out of order.
absl::StatusOr<std::string> DumpDatabase(const Database& database, bool stored = false);
absl::StatusOr<std::string> DumpTable(const Table& table, const ReadOptions& options = {});

// Returns the contents of every file of a directory, by name, or the error of a failed read.
absl::StatusOr<std::map<std::string, std::string>> ReadDirectory(FileSystem* file_system,
                                                                 const std::string& directory);
absl::StatusOr<std::string> ReadWholeFile(FileSystem* file_system, const std::string& path);

struct WorkloadStep {
  enum class Kind {
    kCreateTable,
    kDeleteTable,
    kWrite,   // sets and deletes in one row
    kBatch,   // rows of two tables
    kRanged,  // DeleteFromColumn with a range of timestamps
    kLoad,    // a bulk load of several rows
    kDropRange,
    kAddFamily,
    kDropFamily,
    kFlush,
    kCompact,
    kCheckpoint,
    kSync,
    kReopen,
  };
  Kind kind = Kind::kWrite;
  int table = 0;
  bool durable = false;
  uint64_t salt = 0;  // the seed of the data that the step writes

  bool ChangesState() const { return kind <= Kind::kDropFamily; }
  // Returns whether the step, once acknowledged, survives a power loss together with all earlier
  // steps.
  bool IsDurable() const;
};
std::string ToText(const WorkloadStep& step);

// The first steps create two tables. A step fails only if the disk fails.
std::vector<WorkloadStep> MakeWorkload(uint64_t seed, size_t step_count);

// Returns the contents after each number of state-changing steps if nothing fails. The first entry
// is a new database.
absl::StatusOr<std::vector<std::string>> StatesOf(const std::vector<WorkloadStep>& steps);

inline constexpr int kWorkloadCheckpoints = 2;
std::string CheckpointDirectory(uint64_t salt);

class WorkloadDatabase {
 public:
  explicit WorkloadDatabase(FileSystem* file_system, std::string directory = "/db")
      : WorkloadDatabase(SmallEngineOptions(file_system), std::move(directory)) {}
  WorkloadDatabase(EngineOptions options, std::string directory)
      : options_(std::move(options)), directory_(std::move(directory)) {}

  absl::Status Open();
  absl::Status Run(const WorkloadStep& step);
  // Makes one durable write that is not part of the workload, to any existing table.
  absl::Status WriteProbe(std::string_view value);
  // Destroys every handle.
  void Drop() {
    database_ = Database();
    local_.reset();
  }
  Database& database() { return database_; }
  Engine& engine() { return *local_->engine(); }
  bool is_open() const { return local_ != nullptr; }

 private:
  absl::Status Write(const WorkloadStep& step);
  absl::Status WriteBatchOf(const WorkloadStep& step);
  absl::Status Load(const WorkloadStep& step);

  const EngineOptions options_;
  const std::string directory_;
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
};

}  // namespace stele::internal
