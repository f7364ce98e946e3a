// io/output_file.h: keeps an output from replacing a file that is read.
//
// Threads:   pure functions, which read the file system.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace stele::internal {

// Returns InvalidArgument if one of the outputs is one of the inputs, or is inside an input that is
// a directory. Symbolic links count as their targets and as files of their own. An output or an
// input that is "" is ignored.
absl::Status CheckOutputsAreNotInputs(const std::vector<std::string>& outputs,
                                      const std::vector<std::string>& inputs);

}  // namespace stele::internal
