// rules/parameters.h: the values of the rules' parameters.
//
// Errors:    InvalidArgument for an unknown rule or parameter, and for a value out of range.
// Threads:   values; thread-compatible.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "stele/lab/lint.h"

namespace stele::internal::lab {

class Parameters {
 public:
  // The defaults of all rules.
  Parameters();

  // Sets RULE.PARAMETER, lint.min_rows or lint.min_ops to a number from 0 to 1e18.
  absl::Status Set(std::string_view name, double value);
  double Get(std::string_view rule, std::string_view parameter) const;

 private:
  std::map<std::string, double, std::less<>> values_;
};

}  // namespace stele::internal::lab
