#include "state/write_gate.h"

#include <chrono>
#include <string>

#include "base/status.h"
#include "io/file_names.h"

namespace stele::internal {

absl::Status WriteGate::LostDirectory() const {
  if (!is_directory_lost_.load(std::memory_order_relaxed)) return absl::OkStatus();
  return MakeStatus(
      absl::StatusCode::kDataLoss,
      fmt::format(
          "{}: the directory was removed while the database is open, so writes are refused; "
          "copy what can still be read, close the database, and restore a backup",
          parts_.directory->path()));
}

absl::Status WriteGate::CheckDirectory() {
  const DatabaseDirectory& directory = *parts_.directory;
  if (is_directory_lost_.load(std::memory_order_relaxed)) return LostDirectory();
  const absl::StatusOr<FileInfo> current =
      directory.file_system()->Stat(directory.PathOf(kCurrentName));
  if (!absl::IsNotFound(current.status())) return absl::OkStatus();
  const bool was_lost = is_directory_lost_.exchange(true, std::memory_order_relaxed);
  absl::Status lost = LostDirectory();
  if (!was_lost) ReportError(lost);
  return lost;
}

absl::Status WriteGate::Refusal() {
  STELE_RETURN_IF_ERROR(LostDirectory());
  EngineState& state = *parts_.state;
  if (!state.writes_refused()) return absl::OkStatus();
  {
    MutexLock lock(state.mutex());
    const absl::Status failure = state.failures().RefusingWrites();
    if (!failure.ok())
      return WithContext(failure, "writes are refused while background work fails (it is retried)");
  }
  if (RestoreReserve()) return absl::OkStatus();
  return parts_.reserve->Refusal();
}

bool WriteGate::RestoreReserve() {
  EngineState& state = *parts_.state;
  SpaceReserve& reserve = *parts_.reserve;
  const bool was_released = reserve.is_released();
  bool is_wanted = false;  // for the retry of a flush that failed
  {
    MutexLock lock(state.mutex());
    is_wanted = !state.failures().RefusingWrites().ok();
  }
  reserve.Restore(has_threads_ ? std::chrono::steady_clock::now() : SpaceReserve::TimePoint::max(),
                  /*may_take=*/!is_wanted);
  if (!was_released || reserve.is_released()) return false;
  {
    MutexLock lock(state.mutex());
    state.SetWritesRefused(!state.failures().RefusingWrites().ok());
    state.SignalChangeLocked();
  }
  parts_.events->Report(DatabaseEvent::Kind::kBackgroundRecovered, "the disk has free space again");
  return true;
}

void WriteGate::NoteFreedSpace() {
  parts_.reserve->NoteSpaceFreed();
  EngineState& state = *parts_.state;
  bool has_recovered = false;
  {
    MutexLock lock(state.mutex());
    // A drop removed what a flush could not write, so nothing would retry that flush.
    has_recovered = state.failures().RemoveIf([&state](const JobSubject& subject) {
      state.mutex().AssertHeld();
      return subject.kind == JobSubject::Kind::kFlush &&
             state.FrozenLocked(subject.table_id).empty();
    });
    has_recovered = has_recovered && state.failures().empty();
    state.failures().EndBackoffOf(JobSubject::Kind::kFlush);
    state.SetWritesRefused(!state.failures().RefusingWrites().ok() ||
                           parts_.reserve->is_released());
    state.SignalChangeLocked();
  }
  if (has_recovered)
    parts_.events->Report(DatabaseEvent::Kind::kBackgroundRecovered,
                          "the failed background work is no longer due");
}

absl::Status WriteGate::CheckWritable(const FreesSpace& frees_space) {
  STELE_RETURN_IF_ERROR(parts_.open->CheckChangeable());
  absl::Status refusal = Refusal();
  if (!LacksSpace(refusal) || !frees_space || !frees_space()) return refusal;
  MakeRoom();
  return absl::OkStatus();
}

absl::Status WriteGate::CurrentRefusal() const {
  STELE_RETURN_IF_ERROR(LostDirectory());
  if (parts_.state->writes_refused()) {
    MutexLock lock(parts_.state->mutex());
    STELE_RETURN_IF_ERROR(parts_.state->failures().RefusingWrites());
  }
  return parts_.reserve->Refusal();
}

bool WriteGate::SpaceIsScarce() const {
  const SpaceReserve& reserve = *parts_.reserve;
  return reserve.is_released() ||
         reserve.FreeBytes() < parts_.state->memtable_bytes() + sizes_.memtable_bytes +
                                   2 * sizes_.segment_bytes + ManifestBytes();
}

uint64_t WriteGate::ManifestBytes() const {
  return parts_.new_manifest_bytes ? 2 * parts_.new_manifest_bytes() : 0;
}

absl::Status WriteGate::CheckRoomForFlushes(std::string_view what, uint64_t bytes) const {
  const uint64_t free_bytes = parts_.reserve->FreeBytes();
  const uint64_t unflushed_bytes = parts_.state->memtable_bytes();
  if (free_bytes >= unflushed_bytes + sizes_.open_bytes + ManifestBytes() + bytes)
    return absl::OkStatus();
  return ResourceExhausted(
      "{}: {} bytes are free on the disk, and {} in memory must be flushed; free disk space", what,
      free_bytes, unflushed_bytes);
}

absl::Status WriteGate::CheckRoomForSegment(uint64_t bytes) const {
  const uint64_t free_bytes = parts_.reserve->FreeBytes();
  const uint64_t needed_bytes =
      parts_.state->memtable_bytes() + sizes_.open_bytes + ManifestBytes() + bytes;
  if (free_bytes >= needed_bytes || free_bytes + parts_.reserve->ReservedBytes() >= needed_bytes)
    return absl::OkStatus();
  return ResourceExhausted(
      "the disk is full: {} bytes are free, but the log may not use the {} that flushes and the "
      "next opening need; delete data or free disk space",
      free_bytes, needed_bytes - bytes);
}

bool WriteGate::MakeRoom() {
  if (!parts_.reserve->Release()) return false;
  RefuseWrites();
  ReportError(parts_.reserve->Refusal());
  return true;
}

void WriteGate::NoteFullDisk(const absl::Status& found) {
  if (parts_.reserve->NoteMissing()) RefuseWrites();
  const absl::Status refusal = parts_.reserve->Refusal();
  ReportError(refusal.ok() ? found
                           : MakeStatus(refusal.code(), fmt::format("{}; the error was: {}",
                                                                    ToStd(refusal.message()),
                                                                    ToStd(found.message()))));
}

void WriteGate::RefuseWrites() {
  EngineState& state = *parts_.state;
  MutexLock lock(state.mutex());
  state.SetWritesRefused(true);
  state.failures().EndBackoffOf(JobSubject::Kind::kFlush);
  state.SignalChangeLocked();
}

void WriteGate::ReportError(const absl::Status& error) {
  parts_.events->Report(DatabaseEvent::Kind::kBackgroundError, std::string(ToStd(error.message())),
                        0, error);
}

absl::Status WriteGate::RunFreeing(const std::function<absl::Status()>& call) {
  STELE_RETURN_IF_ERROR(parts_.open->CheckChangeable());
  STELE_RETURN_IF_ERROR(LostDirectory());
  if (LacksSpace(Refusal())) MakeRoom();
  absl::Status status = call();
  if (LacksSpace(status) && MakeRoom()) status = call();
  if (status.ok()) NoteFreedSpace();
  return status;
}

}  // namespace stele::internal
