// tools/stele/columns.h: the columns= argument of read and lookup.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

// Parses "FAMILY:QUALIFIER,FAMILY:,QUALIFIER,...". A name that contains one of \^$*+?()[]{}| is a
// regular expression; any other name is literal. A cell that two of the names match is returned
// twice, as in cbt.
absl::StatusOr<Filter> ParseColumns(std::string_view text);

}  // namespace stele::cli
