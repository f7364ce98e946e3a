// trace_sort/record_sorter.h: sorts records of a trace by time, in a temporary file if they are
// many.
//
// Files:     one in the directory for temporary files ($TMPDIR), if the records do not fit in
//            memory. It is unlinked at once, and the system frees it when the object closes it.
// Errors:    ResourceExhausted for more than 16 GiB of records; DataLoss if the file has other
//            contents than were written; errors of the file system.
// Threads:   confined to one thread.
// Memory:    20 MiB of records and a record; while they are returned, 16 KiB for each 16 MiB in the
//            file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "trace/trace_record.h"

namespace stele::internal::lab {

class RecordSorter {
 public:
  // `run_bytes`: how many bytes of records are sorted in memory at once.
  explicit RecordSorter(size_t run_bytes = size_t{16} << 20) : run_bytes_(run_bytes) {}
  ~RecordSorter();
  RecordSorter(const RecordSorter&) = delete;
  RecordSorter& operator=(const RecordSorter&) = delete;

  // Adds a record. `number` orders records with equal times.
  absl::Status Add(const TraceRecord& record, uint64_t number);
  // Call it after the last record, and before the first Pop().
  absl::Status Finish();

  bool empty() const { return heads_.empty(); }
  struct Place {
    int64_t micros = 0;
    uint64_t number = 0;
    bool operator<(const Place& other) const {
      return std::tie(micros, number) < std::tie(other.micros, other.number);
    }
  };
  // The place of the first record. There must be one.
  const Place& first() const { return heads_.front().place; }
  // Removes the first record, and stores it in `record`.
  absl::Status Pop(TraceRecord* record);

  size_t runs() const { return runs_.size(); }  // in the file

 private:
  // A record in memory: its bytes are at `offset` of open_.
  struct Entry {
    Place place;
    size_t offset = 0;
    size_t bytes = 0;
  };
  // A part of the file, sorted. The bytes from `buffer_begin` on are in `buffer`.
  struct Run {
    uint64_t next = 0;
    uint64_t end = 0;
    uint64_t buffer_begin = 0;
    std::string buffer;
  };
  // The first remaining record of a run; without a file, a record in memory.
  struct Head {
    Place place;
    size_t run = 0;
    size_t bytes = 0;
  };

  absl::Status OpenFile();
  absl::Status WriteRun();
  absl::Status Write(std::string_view bytes);
  // Reads the next bytes of a run.
  absl::Status Read(Run* run, size_t bytes, std::string* out);
  // Adds the next record of a run to heads_, if there is one.
  absl::Status AddHead(size_t run);

  const size_t run_bytes_;
  std::string open_;
  std::vector<Entry> entries_;
  int fd_ = -1;
  std::string path_;
  uint64_t file_bytes_ = 0;
  std::vector<Run> runs_;
  std::vector<Head> heads_;  // a heap: the earliest record is first
  std::string read_;
};

}  // namespace stele::internal::lab
