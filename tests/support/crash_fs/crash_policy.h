// support/crash_fs/crash_policy.h: the effects of a crash on unsynced work, and the faults of
// calls.
//
// Used by:   tests, for CrashFileSystem::Crash, FailCall, FailRead and FailKind
//            (crash_fs/crash_file_system.h).
// Units:     a sector is 512 bytes of a file, counted from the file's start; a device writes a
//            sector completely or not at all.
// Threads:   plain values.
// Source:    Rebello et al., "Can Applications Recover from fsync Failures?" (ATC 2020), for the
//            behaviour of file systems after a failed sync; Pillai et al., "All File Systems Are
//            Not Created Equal" (OSDI 2014), for reordering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace stele::internal {

inline constexpr size_t kSectorBytes = 512;

// Synced bytes and synced names always survive. `keep` selects the unsynced work that may survive.
// Each switch adds one effect that real disks and file systems have, independently of the others.
// With all switches off a crash has only the effects that careless code expects.
struct CrashPolicy {
  enum class Keep {
    kNothing,     // only what was synced
    kPrefix,      // the changes up to a random call, in the order of the calls
    kEverything,  // all writes reached the disk
    // The process died, not the machine: exactly the state that readers saw last. The switches have
    // no effect.
    kPageCache,
  };
  Keep keep = Keep::kPrefix;
  // kPrefix: each file keeps a separate prefix, and any name change may be kept, not only the first
  // ones.
  bool reorder_files = false;
  // Kept writes lose single sectors where the synced file has only zeros, or ends before.
  bool lose_sectors = false;
  // Kept writes lose single sectors where the synced file has older bytes, which reappear.
  bool stale_sectors = false;
  // Only the first sectors of the last kept write survive (with reorder_files: of each file's
  // last).
  bool tear_last_write = false;
  bool tear_bytes = false;  // with tear_last_write: it may end inside a sector
  // Creations, renames, links and removals may be lost if the directory was not synced. Off: they
  // are never lost.
  bool lose_entries = false;
  // A file's new size may survive without its bytes, which then read as zeros.
  bool grow_zeros = false;
  // The same, but the bytes are garbage: random, or from a removed file.
  bool grow_garbage = false;

  // The process was killed; the machine continues.
  static constexpr CrashPolicy KilledProcess() { return {.keep = Keep::kPageCache}; }
  static constexpr CrashPolicy DropUnsynced() {
    return {.keep = Keep::kNothing, .lose_entries = true};
  }
  static constexpr CrashPolicy KeepAll() { return {.keep = Keep::kEverything}; }
  // Everything that a power failure may do.
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
  // One of the policies above or a mixture of switches, for campaigns. The same seed gives the same
  // policy.
  static CrashPolicy Random(uint64_t seed);
};

// The state of the page cache after a failed Sync. In every case the bytes are not on disk.
enum class FailedSync {
  kStaysDirty,  // not written yet: a later Sync writes them
  kCleanNew,    // readers see the new bytes, but no later Sync writes them (ext4, XFS)
  kCleanOld,    // readers see the old bytes again (Btrfs)
};

// The calls that are counted: first those that change something (CrashFileSystem::calls), then the
// others (reads).
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
  int error_number = 0;  // the error that the call returns, as ErrnoStatus
  bool sticky = false;   // every later matching call fails, too
  // Half of the call is done: a Write writes half of its bytes, a Sync saves half; a Read returns
  // half and OK.
  bool partial = false;
  bool whole = false;     // all bytes of a Write are written, but it fails
  std::string path_part;  // only calls on paths that contain this
};

}  // namespace stele::internal
