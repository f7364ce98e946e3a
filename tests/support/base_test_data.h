// tests/support/base_test_data.h: finds the data files of the tests. The directory's path is in a
// generated file and not in compiler flags, so that checkouts can share a compiler cache.
#pragma once

#include <string>
#include <string_view>

namespace stele::internal {

// Returns the absolute path of tests/`path`.
std::string TestDataPath(std::string_view path);

}  // namespace stele::internal
