// values/near_name.h: finds the known name that is most similar to a misspelt one.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stele::internal::lab {

// Returns the name that differs least from `name`. It may differ in the case of letters, and in two
// characters that are inserted, deleted, replaced or swapped. If `name` has three or four bytes,
// only one character may differ. If it has fewer, none may differ. Returns "" if there is no such
// name, or if `name` is one of the names. Names of more than 64 bytes are not compared.
std::string NearName(std::string_view name, const std::vector<std::string>& names);

}  // namespace stele::internal::lab
