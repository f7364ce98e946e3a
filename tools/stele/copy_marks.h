// tools/stele/copy_marks.h: records the progress of a copy in a small file, so that the same
// command resumes an interrupted copy.
//
// Format:    JSON. The file is replaced atomically: written to a temporary file, synced, renamed.
//            Row keys are base64, because they may be any bytes.
// Contract:  A mark covers only rows that are durable at the destination. A lost mark costs only
//            time, because copying a row again gives the same result.
// Errors:    FailedPrecondition if the file is not a file of marks, belongs to another copy, or is
//            in use by another run; errors of the file system.
// Threads:   CopyMarks is thread-safe. The other types are plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "state_file_lock.h"

namespace stele::cli {

struct CopyCounts {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // row keys, qualifiers and values

  CopyCounts& operator+=(const CopyCounts& other) {
    rows += other.rows;
    cells += other.cells;
    bytes += other.bytes;
    return *this;
  }
};

// A range of rows that is copied in order.
struct PartMark {
  std::string start;     // the first row key; "": the table's first row
  std::string end;       // the first row key after the range; "": none
  std::string last_row;  // this row and all rows before it are durable; "": none
  bool is_finished = false;
  CopyCounts counts;  // up to last_row, since the copy started
};

struct TableMark {
  std::string source;
  std::string destination;
  std::vector<PartMark> parts;

  CopyCounts Sum() const;
};

class CopyMarks {
 public:
  // With an empty `path`, nothing is stored. `parameters` are those of the whole copy, as text.
  CopyMarks(std::string path, std::string parameters)
      : path_(std::move(path)), parameters_(std::move(parameters)) {}

  // Locks the file for the lifetime of this object, and reads the marks of an earlier run. Does
  // nothing more if there is no file.
  absl::Status Read();
  const std::string& path() const { return path_; }

  // Returns the mark of this source and destination, or an empty one.
  TableMark Get(const std::string& source, const std::string& destination) const;
  // Replaces everything recorded about the table.
  absl::Status Set(TableMark table);
  absl::Status SetPart(const std::string& source, size_t part_index, PartMark part);
  // Removes the file when the copy is complete. If old marks came back, a later copy would skip
  // rows that have changed at the source.
  absl::Status Remove();

 private:
  absl::Status WriteLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const std::string parameters_;
  std::unique_ptr<StateFileLock> lock_;
  mutable internal::Mutex mutex_;
  std::vector<TableMark> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::cli
