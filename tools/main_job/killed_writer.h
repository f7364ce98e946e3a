// tools/main_job/killed_writer.h: a process that writes until it is killed, and what must be there afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::main_job {

// The writer's side: opens the database, writes row 0, 1, 2, ... of the table, and reports each one acknowledged as a byte on `ack_fd`.
// Comes back only with an error.
absl::Status WriteUntilKilled(const std::string& directory, int ack_fd);

struct KillResult {
  uint64_t acked_count = 0;     // writes acknowledged before the kill
  uint64_t found_count = 0;     // rows found afterwards
  double write_seconds = 0;     // from the first ack to the kill
  double recovery_seconds = 0;  // of the Open after it
};

// Starts this program again as the writer, kills it with SIGKILL after `kill_after` acks, opens the database and checks that every
// acknowledged row is there with its value, and that what is there beyond them is a prefix of what was written.
absl::StatusOr<KillResult> KillWriter(const std::string& directory, uint64_t kill_after);

}  // namespace stele::main_job
