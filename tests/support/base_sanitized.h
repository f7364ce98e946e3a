// tests/support/base_sanitized.h: says whether this build runs under a sanitizer. Long campaigns
// then do less.
#pragma once

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // gcc
#define STELE_SANITIZED 1
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STELE_SANITIZED 1
#endif
#endif

namespace stele::internal {

#ifdef STELE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// The share of `count` (seeds, places, rare events of a campaign) that a sanitized build does: a
// quarter. Other builds do all.
constexpr uint64_t SanitizedPart(uint64_t count) { return kSanitized ? (count + 3) / 4 : count; }

}  // namespace stele::internal
