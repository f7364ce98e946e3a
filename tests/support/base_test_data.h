// tests/support/base_test_data.h: where the files that tests read lie. The folder's name is in one generated file and not among the
// compilers' flags, so that checkouts in several places share what a compiler cache holds.
#pragma once

#include <string>
#include <string_view>

namespace stele::internal {

// The whole path of tests/`path`.
std::string TestDataPath(std::string_view path);

}  // namespace stele::internal
