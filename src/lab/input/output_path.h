// input/output_path.h: keeps an output from replacing a file of the input.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace stele::internal::lab {

// Returns InvalidArgument if one of the outputs is one of the inputs. A name that is empty or does
// not exist is none of them.
absl::Status CheckReplacesNoInput(const std::vector<std::string>& outputs,
                                  const std::vector<std::string>& inputs);

}  // namespace stele::internal::lab
