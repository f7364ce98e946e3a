// db/added_files.h: adds files to the stack of one tablet, each at the place of its commits.
//
// Used by:   db/file_edits.cc decides which file is added and which is replaced.
// Errors:    InvalidArgument if there are too many files to compare.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "manifest/edit.h"

namespace stele::internal {

// What the edit of a file says about one tablet.
struct FilePlace {
  ReferenceEdit reference;            // the range is empty if the file has no rows there
  std::vector<ReferenceEdit> inputs;  // of a compaction: what it replaced there
  bool is_load = false;               // a bulk load, with the newest commit before it
  // False: the stack has it, or an edit has removed it. It only tells what it replaced.
  bool may_be_added = false;
};

struct AddedFiles {
  std::set<uint64_t> numbers;
  std::set<uint64_t> refused;  // those that contradict others in a tablet
  uint64_t comparisons = 0;    // of references, so far
};

// Adds places to the stack, newest first. Adds to `added`.
absl::Status AddPlaces(std::vector<FilePlace> places, std::vector<ReferenceEdit>* stack,
                       AddedFiles* added);

}  // namespace stele::internal
