// base/checksum.h: the one checksum and hash of every format: XXH3-64, seeded.
//
// Format:    docs/format/conventions.md says what each checksum covers and what seeds it.
#pragma once

#include <cstdint>
#include <string_view>

namespace stele::internal {

uint64_t Checksum64(std::string_view bytes, uint64_t seed = 0);

}  // namespace stele::internal
