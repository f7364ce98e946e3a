#include "db/engine.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "db/write_attempt.h"

namespace stele::internal {
namespace {

bool FreesMemory(const JobSubject& subject) { return subject.kind == JobSubject::Kind::kFlush || subject.kind == JobSubject::Kind::kSpill; }

}  // namespace

EngineSizes SizesFor(uint64_t memory_budget_bytes) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  EngineSizes sizes;
  sizes.write_memory_bytes = memory_budget_bytes / 8 * 3;
  sizes.memtable_bytes = std::clamp(sizes.write_memory_bytes / 4, uint64_t{64} << 10, 64 * kMiB);
  // More than one memtable: what a short scan holds while a flush ends is not worth writing.
  sizes.pinned_memory_bytes = memory_budget_bytes / 8;
  sizes.uncharged_bytes = std::min(memory_budget_bytes / 4, 16 * kMiB);
  sizes.cache_bytes = (memory_budget_bytes - sizes.uncharged_bytes) / 8 * 7;
  sizes.cache_least_bytes = memory_budget_bytes / 16;
  // Up to three of them wait or are in use, also in a small database: small enough not to matter there.
  sizes.segment_bytes = std::clamp(sizes.write_memory_bytes / 8, uint64_t{256} << 10, 8 * kMiB);
  sizes.first_segment_bytes = std::min(kMiB, sizes.segment_bytes);
  sizes.reserve_bytes = std::clamp(sizes.memtable_bytes, kMiB, 16 * kMiB);
  sizes.log_bytes_max = std::max(2 * sizes.write_memory_bytes, 4 * sizes.segment_bytes);
  return sizes;
}

Engine::Engine(std::string directory_in, EngineOptions options_in, std::shared_ptr<FileSystem> held_directory_in)
    : directory(std::move(directory_in)),
      options(std::move(options_in)),
      held_directory(std::move(held_directory_in)),
      file_system(held_directory != nullptr ? held_directory.get() : options.file_system),
      closed(std::make_shared<std::atomic<bool>>(false)),
      events(options.database.on_event),
      clock(options.database.clock,
            [this](int64_t micros) {
              events.Report(Event::Kind::kClockJump,
                            fmt::format("the clock went forward by {} hours; ages follow it", micros / 3'600'000'000));
            }),
      memory(options.database.memory_budget_bytes, options.sizes.uncharged_bytes),
      cache(options.sizes.cache_bytes, &memory, options.sizes.cache_least_bytes),
      files(file_system, directory, &cache),
      pins(&memory, options.sizes.pinned_memory_bytes, options.sizes.write_memory_bytes / 4),
      state(&files, &pins, &memory),
      loads(options.database.memory_budget_bytes),
      large_writes(&memory),
      reserve(file_system, directory, options.sizes.reserve_bytes, options.sizes.memtable_bytes + options.sizes.segment_bytes),
      pid_(::getpid()) {
  const int ahead_threads = options.background_threads == 0 ? 0 : AheadPool::ThreadsForThisMachine();
  if (ahead_threads > 0) ahead = std::make_unique<AheadPool>(ahead_threads);
}

Engine::~Engine() { Close().IgnoreError(); }

absl::Status Engine::Close() {
  MutexLock hold(close_mutex_);
  if (!close_done_) {
    close_status_ = CloseOnce();
    close_done_ = true;
  }
  return close_status_;
}

absl::Status Engine::CloseOnce() {
  closed->store(true, std::memory_order_release);  // pairs with the acquire in CheckOpen and in row streams
  if (::getpid() != pid_) return AbandonInFork();
  absl::Status status;
  if (committer != nullptr) committer->Close();
  if (background != nullptr) background->Stop();
  loads.EndAll();
  if (ahead != nullptr) ahead->Stop();
  // Whatever handle lets its last view go from now on must not touch files that the next opener may own.
  files.StopRemoving();
  if (installer != nullptr)
    status = WithContext(committer->poison(), "closed, but what was acknowledged since the last good sync may not last");
  if (installer != nullptr && status.ok()) {
    // An edit that changes nothing says last how far the log reaches. Then in this order: a log with an end mark beside a manifest without
    // one means that the manifest lost its end (db/open.cc).
    status = installer->Install([](const Version&) { return Edit(); });
    if (status.ok()) {
      status = installer->Close([this] {
        STELE_RETURN_IF_ERROR(manifest->Close());
        return log->Close();
      });
    }
  }
  lock.reset();
  return status;
}

absl::Status Engine::AbandonInFork() {
  files.StopRemoving();
  // The parent's threads are not here to be joined, and its files and lock are not the child's to end: the child lets go of all of them
  // without touching anything.
  static_cast<void>(background.release());
  static_cast<void>(ahead.release());
  static_cast<void>(log.release());
  static_cast<void>(manifest.release());
  static_cast<void>(lock.release());
  return FailedPrecondition("the database was opened by another process (pid {}), before a fork; it stays open there", pid_);
}

absl::Status Engine::CheckOpen() const {
  if (closed->load(std::memory_order_acquire)) return FailedPrecondition("the database is closed; open it again");
  return absl::OkStatus();
}

absl::Status Engine::CheckChangeable() const {
  STELE_RETURN_IF_ERROR(CheckOpen());
  if (options.database.read_only) return FailedPrecondition("the database was opened read-only; open it without read_only to write");
  return CheckProcess();
}

// Two writers would destroy log and manifest.
absl::Status Engine::CheckProcess() const {
  if (::getpid() == pid_) return absl::OkStatus();
  return FailedPrecondition("the database was opened by another process (pid {}), before a fork; open it anew", pid_);
}

absl::Status Engine::Refusal() {
  if (!state.writes_refused.load(std::memory_order_acquire)) return absl::OkStatus();
  {
    MutexLock lock(state.mutex);
    const absl::Status failure = state.failures.RefusingWrites();
    if (!failure.ok()) return WithContext(failure, "writes are refused while background work fails (it is tried again)");
  }
  if (RestoreReserve()) return absl::OkStatus();
  return reserve.Refusal();
}

bool Engine::RestoreReserve() {
  const bool was_released = reserve.is_released();
  const bool has_threads = options.background_threads > 0;
  bool is_wanted = false;  // for a flush that failed and is tried again
  {
    MutexLock lock(state.mutex);
    is_wanted = !state.failures.RefusingWrites().ok();
  }
  reserve.Restore(has_threads ? std::chrono::steady_clock::now() : SpaceReserve::TimePoint::max(), /*may_take=*/!is_wanted);
  if (!was_released || reserve.is_released()) return false;
  {
    MutexLock lock(state.mutex);
    state.writes_refused.store(!state.failures.RefusingWrites().ok(), std::memory_order_release);
    state.changed.SignalAll();
  }
  events.Report(Event::Kind::kBackgroundRecovered, "the disk has room again");
  return true;
}

void Engine::NoteFreedSpace() {
  reserve.LookAgain();
  MutexLock lock(state.mutex);
  state.failures.EndRestOf(JobSubject::Kind::kFlush);
  state.changed.SignalAll();
}

absl::Status Engine::CheckWritable(const FreesSpace& frees_space) {
  STELE_RETURN_IF_ERROR(CheckChangeable());
  absl::Status refusal = Refusal();
  if (!absl::IsResourceExhausted(refusal) || !frees_space || !frees_space()) return refusal;
  MakeRoom();
  return absl::OkStatus();
}

bool Engine::SpaceIsScarce() const {
  const EngineSizes& sizes = options.sizes;
  return reserve.is_released() || reserve.FreeBytes() < state.memtable_bytes() + sizes.memtable_bytes + 2 * sizes.segment_bytes;
}

bool Engine::MakeRoom() {
  if (!reserve.Release()) return false;
  {
    MutexLock lock(state.mutex);
    state.writes_refused.store(true, std::memory_order_release);
    state.failures.EndRestOf(JobSubject::Kind::kFlush);
    state.changed.SignalAll();
  }
  const absl::Status refusal = reserve.Refusal();
  events.Report(Event::Kind::kBackgroundError, std::string(ToStd(refusal.message())), 0, refusal);
  return true;
}

absl::Status Engine::RunFreeing(const std::function<absl::Status()>& call) {
  STELE_RETURN_IF_ERROR(CheckChangeable());
  if (absl::IsResourceExhausted(Refusal())) MakeRoom();
  absl::Status status = call();
  if (absl::IsResourceExhausted(status) && MakeRoom()) status = call();
  if (status.ok()) NoteFreedSpace();
  return status;
}

// Over the budget writers are slowed, whoever it is that takes so much; but no more than that, for readers may wait for them.
WritePressure Engine::Pressure() const {
  return {.memtable_bytes = state.memtable_bytes() + pins.ChargedBytes() + memory.bytes_over(),
          .memtable_bytes_max = options.sizes.write_memory_bytes,
          .debt_bytes = installer->debt_bytes(),
          .debt_bytes_max = 64 * options.sizes.memtable_bytes};
}

absl::Status Engine::AwaitTurn(uint64_t bytes, const WriteOptions& write, const FreesSpace& frees_space) {
  const WritePressure pressure = Pressure();
  if (WriteThrottle::PressureOf(pressure) <= WriteThrottle::kPressureFree) return absl::OkStatus();
  if (options.background_threads == 0) return StepUntilEased();
  throttle.AwaitMemoryTurn(bytes, WriteThrottle::MemoryPressure(pressure));
  STELE_RETURN_IF_ERROR(throttle.AwaitDebtTurns(bytes, [&]() -> absl::StatusOr<double> {
    STELE_RETURN_IF_ERROR(CheckWritable(frees_space));
    STELE_RETURN_IF_ERROR(CheckAwaited(write));
    return WriteThrottle::DebtPressure(Pressure());
  }));
  const auto has_room = [this] { return state.memtable_bytes() + pins.ChargedBytes() < options.sizes.write_memory_bytes; };
  if (has_room()) return absl::OkStatus();
  // The cap itself: only reached when nothing drains. Any table's flush would make room.
  return background->WaitUntil(has_room, FreesMemory);
}

absl::Status Engine::DrainMemtables() {
  STELE_RETURN_IF_ERROR(committer->RunExclusive([this] {
    state.Relieve(0);
    return absl::OkStatus();
  }));
  const auto is_drained = [this] {
    state.mutex.AssertHeld();
    // A flush keeps its memtable to its end, a little longer than the state does.
    return std::all_of(state.tables.begin(), state.tables.end(),
                       [](const auto& table) { return table.second.frozen.empty() && !table.second.flush_running; });
  };
  return background->WaitUntil(is_drained, FreesMemory);
}

absl::Status Engine::StepUntilEased() {
  const auto failure_count = [this] {
    MutexLock lock(state.mutex);
    return state.failures.count();
  };
  const uint64_t count = failure_count();
  // Without a thread to rest, trying again what failed would not end.
  while (failure_count() == count && WriteThrottle::PressureOf(Pressure()) > WriteThrottle::kPressureFree && background->Step()) {
  }
  MutexLock lock(state.mutex);
  return state.failures.Since(count, FreesMemory);
}

}  // namespace stele::internal
