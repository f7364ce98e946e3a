// support/wal_workload.h: a random life of a commit log (append, sync, spares, release, kill, close, reopen), and the check of what is left
// after a crash of it: a prefix of what was appended, at least what was synced, nothing changed.
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

  // Up to `steps` actions. An error ends the life (false) unless `go_on_after_errors`: then it is appended again, and so on.
  bool Run(int steps, bool go_on_after_errors = false);
  // Empty when `image` holds a log that this life may have left; else what is wrong. `killed`: no power was lost.
  std::string Check(FileSystem* image, bool killed) const;
  // Takes over a log left by another life: what it must and may hold.
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
  uint64_t attempted_ = 0;  // the last sequence given to Append
  uint64_t acked_ = 0;      // the last that Append answered OK for
  uint64_t synced_ = 0;     // the last that a Sync answered OK for
  uint64_t released_ = 0;
  uint64_t oldest_segment_ = 0;  // as a manifest has it
  uint64_t refused_ = 0;         // calls that failed
};

}  // namespace stele::internal
