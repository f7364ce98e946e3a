// tools/stele/copy_marks.h: how far a copy has come, in a small file, so that the same command goes on where an earlier one was cut off.
//
// Format:    JSON, replaced whole: written beside, synced, renamed. Row keys are base64, for they may be any bytes.
// Contract:  a mark never says more than what is durable at the destination; one that is lost costs time only, for what is copied again
//            comes to the same.
// Errors:    FailedPrecondition for a file that is no marks, those of another copy, or of one that runs; what the file system answers.
// Threads:   CopyMarks is thread-safe, the rest plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "copy_lock.h"

namespace stele::cli {

struct CopyCounts {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of row keys, qualifiers and values

  CopyCounts& operator+=(const CopyCounts& other) {
    rows += other.rows;
    cells += other.cells;
    bytes += other.bytes;
    return *this;
  }
};

// A range of rows that is copied in order.
struct PartMark {
  std::string start;     // its first row key; "": the table's
  std::string end;       // the first row key behind it; "": there is none
  std::string last_row;  // this row and those before it are durable; "": none is
  bool is_finished = false;
  CopyCounts counts;  // up to last_row, since the copy began
};

struct TableMark {
  std::string source;
  std::string destination;
  std::vector<PartMark> parts;

  CopyCounts Sum() const;
};

class CopyMarks {
 public:
  // `path` "": nothing is kept. `job` says in full what is copied where.
  CopyMarks(std::string path, std::string job) : path_(std::move(path)), job_(std::move(job)) {}

  // Keeps other runs from the file as long as this object is there, and reads what an earlier one left; nothing if there is no file.
  absl::Status Read();
  const std::string& path() const { return path_; }

  // The mark of that name and destination; none: an empty one.
  TableMark Get(const std::string& source, const std::string& destination) const;
  // Forgets what was known of the table.
  absl::Status Set(TableMark table);
  absl::Status SetPart(const std::string& source, size_t part_index, PartMark part);
  // The copy is done, and stays so: marks that came back would keep a later one from what the source has become.
  absl::Status Remove();

 private:
  absl::Status WriteLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const std::string job_;
  std::unique_ptr<CopyLock> run_;
  mutable internal::Mutex mutex_;
  std::vector<TableMark> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::cli
