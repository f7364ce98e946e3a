// tools/stele/archive_state.h: the state file of `stele archive`. It has the parameters of a run
// and the number of verified cells, so that a run with other parameters does not continue it.
//
// Format:    JSON. The file is replaced durably and atomically.
// Contract:  The file never replaces a check: each run compares the cells again before it deletes
//            them.
// Errors:    FailedPrecondition if the file is not a state file, has other parameters, or is in use
//            by another run; errors of the file system.
// Threads:   Confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "state_file_lock.h"
#include "stele/stele.h"

namespace stele::cli {

// The parameters of a run.
struct ArchiveParameters {
  std::string database;
  std::string table;
  RowRange rows;
  Timestamp before;
  std::string archive;
};

// Returns the default path of the state file: next to the archive, with a checksum of the
// parameters, so that runs with other parameters have other files.
std::string DefaultArchiveState(const ArchiveParameters& parameters);
// Returns the files that a run with this state file writes or removes: the file, its lock file, and
// the new file that replaces it.
std::vector<std::string> ArchiveStateFiles(const std::string& path);

class ArchiveState {
 public:
  ArchiveState(std::string path, ArchiveParameters parameters)
      : path_(std::move(path)), parameters_(std::move(parameters)) {}

  // Reads the state of an earlier run, if the file exists, and writes nothing.
  absl::Status Check();
  // Locks the file for the lifetime of this object, reads it, and writes it if it does not exist.
  absl::Status Begin();
  // How many cells an earlier run verified in the archive. Not set: there was none.
  const std::optional<uint64_t>& verified_cells() const { return verified_cells_; }
  // Records that the archive has these cells on disk, and that they were compared.
  absl::Status SetVerified(uint64_t cells);
  // Removes the file when the run is complete.
  absl::Status Remove();

 private:
  absl::Status Write() const;

  const std::string path_;
  const ArchiveParameters parameters_;
  std::unique_ptr<StateFileLock> lock_;
  bool has_file_ = false;
  std::optional<uint64_t> verified_cells_;
};

}  // namespace stele::cli
