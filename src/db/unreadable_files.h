// db/unreadable_files.h: the SSTables that a compaction could not read, so that compactions of the same tablet leave them alone.
//
// A file may have rows of many tablets. It is noted for those of them whose rows could not be read.
// Path:      background, jobs -> Add; background, installer -> FilesAt -> compaction/picker.h.
// Retry:     an I/O error may pass: such a file is tried again after a second, then after twice as long each time, a minute at most.
//            Damage does not heal: such a file is left alone until the database is opened again.
// Threads:   thread-compatible; EngineState::mutex guards the engine's.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "compaction/picker.h"

namespace stele::internal {

class UnreadableFiles {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // A job failed with `why` when it read the tablet's rows in the file. An error that says nothing about the file (no memory, no file
  // descriptor, a job that was stopped) changes nothing, and the answer is false.
  bool Add(uint64_t file_number, const TabletName& tablet, const absl::Status& why, TimePoint now);
  // The file is not in the database any more.
  void Forget(uint64_t file_number) { files_.erase(file_number); }
  bool empty() const { return files_.empty(); }
  // What is left alone at this time.
  FilesByTablet FilesAt(TimePoint now) const;

 private:
  struct Rest {
    std::chrono::milliseconds backoff{0};
    TimePoint retry_at{};
  };
  std::map<uint64_t, std::map<TabletName, Rest>> files_;  // by number
};

}  // namespace stele::internal
