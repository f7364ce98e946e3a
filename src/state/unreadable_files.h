// state/unreadable_files.h: records the SSTables that a compaction could not read. Later
// compactions of the same tablet do not read them.
//
// A file may have rows of many tablets. It is recorded for those whose rows could not be read.
//
// Used by:   jobs/job_runner.cc adds files. jobs/job_scheduler.cc passes them to the picker
//            (compaction/picker.h).
// Retry:     an I/O error may be transient, so compactions read the file again after a second, then
//            with doubling delays up to a minute. Corruption is permanent: compactions do not read
//            the file until the database is opened again.
// Threads:   thread-compatible; EngineState::mutex_ guards the engine's instance.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "compaction/compaction_pick.h"

namespace stele::internal {

class UnreadableFiles {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Records that a job failed with `why` when it read the tablet's rows in the file. Returns false,
  // and changes nothing, for an error of another kind (no memory, no file descriptor, a stopped
  // job).
  bool Add(uint64_t file_number, const TabletName& tablet, const absl::Status& why, TimePoint now);
  // Call when the file is no longer in the database.
  void Forget(uint64_t file_number) { files_.erase(file_number); }
  bool empty() const { return files_.empty(); }
  // The files that compactions must not read at this time.
  FilesByTablet FilesAt(TimePoint now) const;

 private:
  struct RetryState {
    std::chrono::milliseconds backoff{0};
    TimePoint retry_at{};
  };
  std::map<uint64_t, std::map<TabletName, RetryState>> files_;  // by file number
};

}  // namespace stele::internal
