// base/invariant.h: assertions about the engine's own logic. Errors in data, calls or disks are
// never asserted; they are reported with a Status.
//
// - STELE_CHECK is always on. Use it only where continuing would write wrong bytes.
// - STELE_INVARIANT is active in builds with STELE_INVARIANTS and costs nothing otherwise.
// - Sometimes(p) is true with a probability of p percent in those builds, so that tests reach rare
//   paths often. It is false otherwise.
#pragma once

namespace stele::internal {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

#ifdef STELE_INVARIANTS
inline constexpr bool kInvariants = true;
bool Sometimes(int percent);
#else
inline constexpr bool kInvariants = false;
inline constexpr bool Sometimes(int /*percent*/) { return false; }
#endif

}  // namespace stele::internal

#define STELE_CHECK(condition)                                                        \
  do {                                                                                \
    if (!(condition)) ::stele::internal::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)

#define STELE_INVARIANT(condition)                                        \
  do {                                                                    \
    if constexpr (::stele::internal::kInvariants) STELE_CHECK(condition); \
  } while (false)
