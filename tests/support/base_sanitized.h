// tests/support/base_sanitized.h: defines whether this build runs under a sanitizer, and the share
// of long campaigns that it runs.
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

// The nightly builds (tools/test --nightly) test every place and seed of every campaign.
#ifdef STELE_NIGHTLY
inline constexpr bool kNightly = true;
#else
inline constexpr bool kNightly = false;
#endif

// True in sanitized builds except nightly ones. Campaigns run a part, because sanitized builds are
// many times slower.
inline constexpr bool kReduced = kSanitized && !kNightly;

// The share of `count` (seeds, places, rare events of a campaign) that a build does: all, or a
// quarter if kReduced.
constexpr uint64_t ReducedPart(uint64_t count) { return kReduced ? (count + 3) / 4 : count; }

}  // namespace stele::internal
