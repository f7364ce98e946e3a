// base/invariant.h: checks of the engine's own reasoning. Never of data, callers or disks: those answer with a Status.
//
// STELE_CHECK      always on; only where going on would write wrong bytes.
// STELE_INVARIANT  in builds with STELE_INVARIANTS; free otherwise.
// Sometimes(p)     in those builds true with p percent, so that rare paths run often in tests; false otherwise.
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
