// tests/support/db_crash_check.h: what has to be true of a database that is opened again after a crash (campaigns R1 and R2).
//
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/crash_file_system.h"
#include "stele/database.h"

namespace stele::internal {

// The states that a crash may leave: those after `least` to `most` of the writes.
struct AllowedStates {
  const std::vector<std::string>& states;  // DumpDatabase after each number of writes
  size_t least = 0;
  size_t most = 0;
};

// Opens "/db" of the image: one of the states allowed, sound, verified, and with `go_on` fit for a durable write that a further power loss
// keeps. Answers what is wrong; nothing: "".
std::string CheckReopened(CrashFileSystem* image, const AllowedStates& allowed, bool go_on);

// What was acked of checkpoints when a crash came.
struct CheckpointProgress {
  std::map<std::string, std::vector<size_t>> copies;  // directory -> the number of writes that each checkpoint of it may hold
  std::optional<std::string> under_way;               // the directory that one was being made in
};
// A finished checkpoint is there, whole; one under way is there, old or new, or is no database - never another one. `opened` counts those
// that were there.
std::string CheckCheckpoints(CrashFileSystem* image, const std::vector<std::string>& states, const CheckpointProgress& progress,
                             uint64_t* opened);

}  // namespace stele::internal
