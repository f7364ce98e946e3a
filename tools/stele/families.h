// tools/stele/families.h: column families as cbt writes and shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

// "NAME[:GCPOLICY[:TYPE]]"
absl::StatusOr<FamilySchema> ParseFamily(std::string_view text);
// "(age() > 10d || versions() > 1)"; "" for a rule that keeps everything.
std::string GcRuleText(const GcRule& rule);
// The family's value type as cbt's `ls` shows it; "{}" for bytes.
std::string ValueTypeText(ValueType type);

}  // namespace stele::cli
