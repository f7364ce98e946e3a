// tests/support/wal_workload.h: a random workload on a commit log, and the check of the log after a
// crash. After a crash the log must contain a prefix of the appended records, with at least the
// synced ones, unchanged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/random.h"
#include "support/wal_fixture.h"

namespace stele::internal {

class WalWorkload {
 public:
  WalWorkload(FileSystem* file_system, uint64_t seed) : file_system_(file_system), random_(seed) {}

  // Runs up to `steps` actions. Returns false at the first error, unless `go_on_after_errors` is
  // set: then the workload continues after errors.
  bool Run(int steps, bool go_on_after_errors = false);
  // Returns "" if `image` contains a log that this workload may have left, otherwise the fault.
  // `killed`: the process died, but no power was lost.
  std::string Check(FileSystem* image, bool killed) const;
  // Continues with the log that `earlier` left, and with the records that it must and may contain.
  void Adopt(const WalWorkload& earlier);

  bool poisoned() const { return log_ != nullptr && log_->poisoned(); }
  uint64_t acked() const { return acked_; }
  uint64_t synced() const { return synced_; }
  uint64_t refused() const { return refused_; }

 private:
  absl::Status Step();
  absl::Status Open();
  absl::Status AppendGroup();
  absl::Status SyncLog();
  absl::Status ReleaseSome();
  static std::string PayloadOf(uint64_t sequence);

  FileSystem* file_system_;
  Random random_;
  WalNumbers numbers_;
  std::unique_ptr<CommitLog> log_;
  uint64_t attempted_ = 0;  // the last sequence passed to Append
  uint64_t acked_ = 0;      // the last sequence for which Append returned OK
  uint64_t synced_ = 0;     // the last sequence that a successful Sync covers
  uint64_t released_ = 0;
  uint64_t oldest_segment_ = 0;  // as recorded in a manifest
  uint64_t refused_ = 0;         // number of calls that failed
};

}  // namespace stele::internal
