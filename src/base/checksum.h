// base/checksum.h: XXH3-64 with a seed, the only checksum and hash in all file formats.
//
// Format:    docs/reference/format/conventions.md says what each checksum covers and what seeds it.
#pragma once

#include <cstdint>
#include <string_view>

namespace stele::internal {

uint64_t Checksum64(std::string_view bytes, uint64_t seed = 0);

}  // namespace stele::internal
