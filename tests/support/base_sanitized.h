// tests/support/base_sanitized.h: whether a sanitizer watches this build, in which long campaigns do a part of what they do otherwise.
#pragma once

#include <cstdint>

namespace stele::internal {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // gcc
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// Of the `count` seeds, places or rare events of a campaign those that a sanitized run takes or wants: a quarter. All of them are taken
// elsewhere.
constexpr uint64_t SanitizedPart(uint64_t count) { return kSanitized ? (count + 3) / 4 : count; }

}  // namespace stele::internal
