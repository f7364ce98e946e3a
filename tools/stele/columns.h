// tools/stele/columns.h: the columns= argument of read and lookup.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

// "FAMILY:QUALIFIER,FAMILY:,QUALIFIER,...". A name with one of \^$*+?()[]{}| is a regular expression, any other is meant literally. As in
// cbt, a cell that two of them name comes twice.
absl::StatusOr<Filter> ParseColumns(std::string_view text);

}  // namespace stele::cli
