// tests/support/wal_fixture.h: a commit log in a file system, and a record of the appended
// sequences, for the tests of the log.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "wal/commit_log.h"
#include "wal/log_reader.h"

namespace stele::internal {

struct WalRecord {
  uint64_t sequence = 0;
  std::string payload;
  friend bool operator==(const WalRecord&, const WalRecord&) = default;
};

inline constexpr uint64_t kWalDatabaseId = 0x5eed;

// Allocates file numbers as a database does: greater than all numbers in the directory.
class WalNumbers {
 public:
  uint64_t Next() { return ++last_; }
  void SkipExisting(FileSystem* file_system, const std::string& directory);

 private:
  std::atomic<uint64_t> last_{0};
};

struct WalReplay {
  absl::Status status;
  LogTail tail;
  std::vector<WalRecord> records;
};

WalReplay ReplayWal(FileSystem* file_system, const std::string& directory,
                    uint64_t oldest_segment = 0, AtDamage at_damage = AtDamage::kFail,
                    LogPosition end = {});

// Small segments, so that a test uses many: the first has 4 KiB, the others `segment_bytes`.
CommitLogOptions WalOptions(FileSystem* file_system, const std::string& directory,
                            WalNumbers* numbers, uint64_t segment_bytes = 4096);

// Returns a payload of `bytes` bytes that contains its sequence number.
std::string WalPayload(uint64_t sequence, size_t bytes);

// Appends one record for each of the sequences [first, first + count).
absl::Status AppendWal(CommitLog* log, uint64_t first, uint64_t count, size_t payload_bytes);

}  // namespace stele::internal
