// io/crash_policy.h: what a crash may do to work that was not synced, and which faults calls may meet.
//
// Path:      tests -> CrashFileSystem::Crash(policy, seed), FailCall, FailRead, FailKind.
// Units:     a sector is 512 bytes of a file, counted from the file's start; a device writes a sector whole or not at all.
// Threads:   plain values.
// Source:    Rebello et al., "Can Applications Recover from fsync Failures?" (ATC 2020), for what file systems do after a failed sync;
//            Pillai et al., "All File Systems Are Not Created Equal" (OSDI 2014), for what they reorder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace stele::internal {

inline constexpr size_t kSectorBytes = 512;

// Synced bytes and synced names always survive. `keep` says which unsynced work survives at most; every switch then adds one freedom that
// disks and file systems have, and works without the others. With all switches off the image is one that careless code expects.
struct CrashPolicy {
  enum class Keep {
    kNothing,     // only what was synced
    kPrefix,      // what was done up to a random call, in the order of the calls
    kEverything,  // all writes had reached the disk
    kPageCache,   // the process died, not the machine: exactly what readers saw last; the switches do nothing
  };
  Keep keep = Keep::kPrefix;
  bool reorder_files = false;    // kPrefix: every file keeps a prefix of its own, and any name change may be kept, not just the first ones
  bool lose_sectors = false;     // kept writes lose single sectors where the synced file has nothing but zeros, or nothing
  bool stale_sectors = false;    // the same where it has older bytes: they show again inside what was overwritten
  bool tear_last_write = false;  // of the last write kept (with reorder_files: of each file) only the first sectors survive
  bool tear_bytes = false;       // with tear_last_write: it may end inside a sector
  bool lose_entries = false;     // creations, renames, links and removals whose directory was not synced may be undone; off: never lost
  bool grow_zeros = false;       // a file's new size may survive without its bytes, which then read as zeros
  bool grow_garbage = false;     // ... as garbage: random bytes, or what a removed file held at that place

  // A process killed, a machine still running.
  static constexpr CrashPolicy KilledProcess() { return {.keep = Keep::kPageCache}; }
  static constexpr CrashPolicy DropUnsynced() { return {.keep = Keep::kNothing, .lose_entries = true}; }
  static constexpr CrashPolicy KeepAll() { return {.keep = Keep::kEverything}; }
  // Everything a power loss may do.
  static constexpr CrashPolicy PowerLoss() {
    return {.keep = Keep::kPrefix,
            .reorder_files = true,
            .lose_sectors = true,
            .stale_sectors = true,
            .tear_last_write = true,
            .tear_bytes = true,
            .lose_entries = true,
            .grow_zeros = true,
            .grow_garbage = true};
  }
  // One of the policies above or a mixture of switches, for campaigns: the same seed is the same policy.
  static CrashPolicy Random(uint64_t seed);
};

// What is left in the page cache after a Sync failed. Whatever it is, the bytes are not on disk.
enum class FailedSync {
  kStaysDirty,  // still to be written: a later Sync saves them
  kCleanNew,    // readers see the new bytes, but no later Sync writes them (ext4, XFS)
  kCleanOld,    // readers see the old bytes again (Btrfs)
};

// The calls that are counted: first those that change something (CrashFileSystem::calls), then those that do not (reads).
enum class CallKind {
  kCreate,
  kWrite,
  kSync,
  kTruncate,
  kAllocate,
  kRename,
  kRemove,
  kLink,
  kSyncDirectory,
  kCreateDirectory,
  kRemoveDirectory,
  kLock,
  kOpen,
  kRead,
  kSize,
  kList,
  kStat,
};
constexpr bool IsMutating(CallKind kind) { return kind <= CallKind::kLock; }

struct Fault {
  int error_number = 0;   // what the call answers, as ErrnoStatus
  bool sticky = false;    // every later call of those meant fails too
  bool partial = false;   // half is done first: of a Write's bytes, of what a Sync had to save; a Read answers half and OK
  bool whole = false;     // a Write's bytes all arrive, and it fails all the same
  std::string path_part;  // only calls on paths that contain this
};

}  // namespace stele::internal
