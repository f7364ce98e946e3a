// state/write_gate.h: checks whether the database accepts writes now: it is open for writing, no
// background failure refuses writes, the disk has room, and the directory exists.
//
// On a full disk only a write that frees space is admitted. The reserve (io/space_reserve.h) is
// released for it.
//
// Used by:   write/write_admission.cc and admin/bulk_load.cc (CheckWritable), admin/table_admin.cc
//            (CheckWritable, RunFreeing), jobs/job_scheduler.cc (RestoreReserve, CheckDirectory).
// Calls:     io/space_reserve.h.
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "io/space_reserve.h"
#include "state/database_directory.h"
#include "state/engine_options.h"
#include "state/engine_state.h"
#include "state/events.h"
#include "state/open_check.h"

namespace stele::internal {

class WriteGate {
 public:
  // Called only if the result matters.
  using FreesSpace = std::function<bool()>;

  // All parts must outlive it.
  struct Parts {
    const OpenCheck* open = nullptr;
    const DatabaseDirectory* directory = nullptr;
    EngineState* state = nullptr;
    SpaceReserve* reserve = nullptr;
    Events* events = nullptr;
    // The size of a new manifest, at any time.
    std::function<uint64_t()> new_manifest_bytes;
  };
  WriteGate(const Parts& parts, const EngineSizes& sizes, bool has_threads)
      : parts_(parts), sizes_(sizes), has_threads_(has_threads) {}

  // Returns the error of OpenCheck::CheckChangeable, or a present background error that refuses
  // writes. The committer refuses writes to a poisoned database. On a full disk a write that frees
  // space is admitted anyway, and the reserve is released for it.
  absl::Status CheckWritable(const FreesSpace& frees_space = nullptr);
  // Returns why writes that free no space are refused at present; OK if they are not. Unlike
  // CheckWritable, it does not check OpenCheck, and changes nothing.
  absl::Status CurrentRefusal() const;
  // Runs a call that frees space. On a full disk it runs once more with the reserve released. Runs
  // also while writes are refused.
  absl::Status RunFreeing(const std::function<absl::Status()>& call);
  // Releases the reserve. Returns true if that freed space just now.
  bool MakeRoom();
  // Call if Open found no space although there is no reserve. Writes are refused as after MakeRoom,
  // until there is space for a reserve. An event shows `found`, the error: it may name a limit that
  // is no full disk.
  void NoteFullDisk(const absl::Status& found);
  // Checks whether the directory still has its CURRENT. If not, the open files are lost once they
  // are closed, so writes are refused from then on. Returns LostDirectory(). Reads the disk.
  absl::Status CheckDirectory();
  absl::Status LostDirectory() const;  // DataLoss after a CheckDirectory did not find it
  // Creates the reserve again if there is room. Returns true if it was released and exists again.
  bool RestoreReserve();
  // Call after files were removed: failed flushes are retried at once.
  void NoteFreedSpace();
  // True if the disk has room for little more than flushes.
  bool SpaceIsScarce() const;
  // For a job or a bulk load: returns ResourceExhausted unless, after writing `bytes`, the disk
  // still has room for a flush of all memtables and for the next Open.
  absl::Status CheckRoomForFlushes(std::string_view what, uint64_t bytes) const;
  // Like CheckRoomForFlushes, for a log segment of `bytes`, and the reserve counts as room. Only a
  // call that frees space releases the reserve. Until then, a flush that needs that room fails.
  absl::Status CheckRoomForSegment(uint64_t bytes) const;

 private:
  absl::Status Refusal();  // why writes that free no space are refused
  void RefuseWrites();     // the reserve has just been released
  void ReportError(const absl::Status& error);
  // The room for a new manifest, and for an edit that drops rows.
  uint64_t ManifestBytes() const;

  const Parts parts_;
  const EngineSizes sizes_;
  const bool has_threads_;
  // Relaxed: no other data depends on it.
  std::atomic<bool> is_directory_lost_{false};
};

}  // namespace stele::internal
