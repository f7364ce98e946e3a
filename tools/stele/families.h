// tools/stele/families.h: column families in cbt's notation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

// Parses "NAME[:GCPOLICY[:TYPE]]".
absl::StatusOr<FamilySchema> ParseFamily(std::string_view text);
// Returns text such as "(age() > 10d || versions() > 1)", or "" if the rule keeps everything.
std::string GcRuleText(const GcRule& rule);
// Returns the family's value type as cbt's `ls` prints it; "{}" for bytes.
std::string ValueTypeText(ValueType type);

}  // namespace stele::cli
