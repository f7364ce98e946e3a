// tests/support/db_crash_check.h: checks a database that was opened again after a crash (campaigns
// R1 and R2).
//
// Threads:   Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stele/database.h"
#include "support/crash_fs/crash_file_system.h"

namespace stele::internal {

// The states that a crash may leave: the states after `least` to `most` writes.
struct AllowedStates {
  const std::vector<std::string>& states;  // DumpDatabase after each number of writes
  size_t least = 0;
  size_t most = 0;
};

// Opens "/db" of the image and checks that its contents are one of the allowed states and that
// verification finds no damage. With `go_on` it also makes a durable write and checks that a
// further power loss keeps it. Returns the first violation, or "" if there is none.
std::string CheckReopened(CrashFileSystem* image, const AllowedStates& allowed, bool go_on);

// The checkpoints that were acknowledged before a crash.
struct CheckpointProgress {
  // Directory -> the numbers of writes that a checkpoint there may contain.
  std::map<std::string, std::vector<size_t>> copies;
  std::optional<std::string> under_way;  // the directory of the checkpoint that was in progress
};
// Checks the checkpoints after a crash. A finished checkpoint must be complete. A checkpoint that
// was in progress must be complete, be the previous one of its directory, or not be a database; it
// must never be any other database. Adds the number of complete checkpoints to `opened`.
std::string CheckCheckpoints(CrashFileSystem* image, const std::vector<std::string>& states,
                             const CheckpointProgress& progress, uint64_t* opened);

}  // namespace stele::internal
