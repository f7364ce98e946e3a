#include "base/checksum.h"

#include <xxhash.h>

namespace stele::internal {

uint64_t Checksum64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace stele::internal
