#include "base/checksum.h"

#include <xxhash.h>

#include <array>
#include <bit>

#include "base/coding.h"

namespace stele::internal {
namespace {

class SipState {
 public:
  explicit SipState(const SipKey& key)
      : words_{0x736f6d6570736575 ^ key.first, 0x646f72616e646f6d ^ key.second ^ 0xee,
               0x6c7967656e657261 ^ key.first, 0x7465646279746573 ^ key.second} {}

  void Absorb(uint64_t word) {
    words_[3] ^= word;
    Mix(2);
    words_[0] ^= word;
  }
  uint64_t Squeeze(uint64_t mark) {
    words_[mark == kFirstMark ? 2 : 1] ^= mark;
    Mix(4);
    return words_[0] ^ words_[1] ^ words_[2] ^ words_[3];
  }

  static constexpr uint64_t kFirstMark = 0xee;
  static constexpr uint64_t kSecondMark = 0xdd;

 private:
  void Mix(int rounds) {
    auto& [v0, v1, v2, v3] = words_;
    for (int round = 0; round < rounds; ++round) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }

  std::array<uint64_t, 4> words_;
};

}  // namespace

std::string SipHash128(std::string_view bytes, const SipKey& key) {
  SipState state(key);
  const uint64_t length = bytes.size();
  for (; bytes.size() >= sizeof(uint64_t); bytes.remove_prefix(sizeof(uint64_t)))
    state.Absorb(LoadFixed64(bytes.data()));
  uint64_t last = length << 56;
  for (size_t i = 0; i < bytes.size(); ++i)
    last |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  state.Absorb(last);
  std::string hash;
  AppendFixed64(hash, state.Squeeze(SipState::kFirstMark));
  AppendFixed64(hash, state.Squeeze(SipState::kSecondMark));
  return hash;
}

uint64_t Checksum64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace stele::internal
