// support/db_workload.h: small databases for tests of crashes, faults and damage: how they are opened, what happens in them, and their
// contents as text.
//
// How:       a workload is a list of steps made from a seed; the same step does the same to the same state, so that a database that met a
//            fault can be held against one that did not.
// Threads:   thread-compatible.
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

// No threads, and sizes so small that a few dozen writes fill memtables and log segments.
EngineOptions SmallEngineOptions(FileSystem* file_system);

// Every table, family and cell that reads show, and with `stored` also what GC rules condemn; rows out of order are an error.
absl::StatusOr<std::string> DumpDatabase(const Database& database, bool stored = false);
absl::StatusOr<std::string> DumpTable(const Table& table, const ReadOptions& options = {});

// Every file of a directory by name; a read fault is an error.
absl::StatusOr<std::map<std::string, std::string>> ReadDirectory(FileSystem* file_system, const std::string& directory);
absl::StatusOr<std::string> ReadWholeFile(FileSystem* file_system, const std::string& path);

struct WorkloadStep {
  enum class Kind {
    kCreateTable,
    kDeleteTable,
    kWrite,   // sets and deletes of one row
    kBatch,   // rows of two tables
    kRanged,  // DeleteFromColumn of a range of timestamps
    kLoad,    // a bulk load of some rows
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
  uint64_t salt = 0;  // what the step writes follows from it

  bool ChangesState() const { return kind <= Kind::kDropFamily; }
  // Once it is acked, it and everything before it survive power loss.
  bool IsDurable() const;
};
std::string ToText(const WorkloadStep& step);

// Begins with the creation of two tables. A step may fail only where something is wrong with the disk.
std::vector<WorkloadStep> MakeWorkload(uint64_t seed, size_t step_count);

// The contents of a database after each number of state-changing steps, when nothing goes wrong; first those of a new one.
absl::StatusOr<std::vector<std::string>> StatesOf(const std::vector<WorkloadStep>& steps);

inline constexpr int kWorkloadCheckpoints = 2;
std::string CheckpointDirectory(uint64_t salt);

class WorkloadDatabase {
 public:
  explicit WorkloadDatabase(FileSystem* file_system, std::string directory = "/db")
      : WorkloadDatabase(SmallEngineOptions(file_system), std::move(directory)) {}
  WorkloadDatabase(EngineOptions options, std::string directory) : options_(std::move(options)), directory_(std::move(directory)) {}

  absl::Status Open();
  absl::Status Run(const WorkloadStep& step);
  // One durable write of no workload, to some table if there is one.
  absl::Status WriteProbe(std::string_view value);
  // Lets go of every handle.
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
