// tools/main_job/killed_writer.h: a process that writes until it is killed, and the check of its
// database afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::main_job {

// The writer process: opens the database, writes rows 0, 1, 2, ... of the table, and sends a byte
// to `ack_fd` for each acknowledged write. Returns only with an error.
absl::Status WriteUntilKilled(const std::string& directory, int ack_fd);

struct KillResult {
  uint64_t acked_count = 0;     // writes acknowledged before the kill
  uint64_t found_count = 0;     // rows found after recovery
  double write_seconds = 0;     // from the first acknowledgement to the kill
  double recovery_seconds = 0;  // duration of Open after the kill
};

// Starts this program again as the writer, kills it with SIGKILL after `kill_after`
// acknowledgements, and opens the database. Checks that every acknowledged row exists with its
// value, and that the rows form a prefix of the rows written.
absl::StatusOr<KillResult> KillWriter(const std::string& directory, uint64_t kill_after);

}  // namespace stele::main_job
