// db/added_files.h: adds files to the stack of one tablet. The commits of a file determine its
// position in the stack.
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
  std::vector<ReferenceEdit> inputs;  // of a compaction: its inputs in this tablet
  bool is_load = false;               // of a bulk load: `reference` has the newest commit before it
  // False if the stack has the file, or an edit has removed it. Then only `inputs` is used.
  bool may_be_added = false;
};

struct AddedFiles {
  std::set<uint64_t> numbers;
  std::set<uint64_t> refused;  // not added: their commits overlap those of another file
  uint64_t comparisons = 0;    // of references, so far; limited
};

// Adds the files of `places` to the stack, which is newest first. Updates `added`.
absl::Status AddPlaces(std::vector<FilePlace> places, std::vector<ReferenceEdit>* stack,
                       AddedFiles* added);

}  // namespace stele::internal
