// lint/lint_settings.h: the settings of lint: accepted findings with their reasons, and parameters
// of rules.
//
// Threads:   thread-compatible.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lab/design/design_model.h"
#include "lab/rules/parameters.h"
#include "lab/rules/rule.h"

namespace stele::internal::lab {

class Suppressions {
 public:
  // Accepts the findings of a rule about a table; "": about any table. The first reason counts.
  void Add(std::string_view rule, std::string_view table, std::string_view reason);
  // Adds the rules of a table's property lint.ignore: ID,ID.
  void AddProperty(std::string_view text, const std::string& table);
  // Marks the finding if it is accepted.
  void Apply(LintFinding* finding) const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> reasons_;  // by rule and table
};

// Applies the settings of a file. `tables` are the names that an entry of `ignore` may have; null:
// any name.
// Errors: InvalidArgument with a line "FILE:LINE:COLUMN: what" for each unknown rule, parameter or
// table, and for each value that is no number.
absl::Status ApplySettings(const LintSettings& settings, const std::string& file,
                           const std::vector<std::string>* tables, Parameters* parameters,
                           Suppressions* suppressions);

// Reads and applies a config file.
absl::Status ApplyConfigFile(const std::string& path, Parameters* parameters,
                             Suppressions* suppressions);

}  // namespace stele::internal::lab
