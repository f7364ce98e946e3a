// yaml/design_errors.h: the errors of a design file, with their positions.
//
// Threads:   confined to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace stele::internal::lab {

// A position in a file. Both numbers count from 1.
struct Mark {
  size_t line = 1;
  size_t column = 1;
};

class DesignErrors {
 public:
  static constexpr size_t kListedMax = 20;

  // `file` is the name in messages. Control characters must be escaped. `is_stored`: the text is a
  // property of a table, and not a file.
  explicit DesignErrors(std::string file, bool is_stored = false)
      : file_(std::move(file)), is_stored_(is_stored) {}

  // Adds an error. Only the first kListedMax ones are kept.
  void Add(Mark mark, std::string_view what);
  // Adds an error if the design is from a file. A stored design was correct when it was stored, so
  // a newer rule does not make it invalid. Returns false if nothing was added.
  bool AddForFile(Mark mark, std::string_view what);
  bool is_stored() const { return is_stored_; }
  bool empty() const { return count_ == 0; }

  // Returns OK, or InvalidArgument with one line "FILE:LINE:COLUMN: what" per error.
  absl::Status ToStatus() const;

 private:
  const std::string file_;
  const bool is_stored_;
  std::vector<std::string> lines_;
  size_t count_ = 0;
};

}  // namespace stele::internal::lab
