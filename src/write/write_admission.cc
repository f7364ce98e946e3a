#include "write/write_admission.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr int kOptimisticAttempts = 8;  // afterwards a write runs exclusively
// The limit for refusals of any kind, including those because of a token.
constexpr int kAttemptsMax = 1000;
// The interval at which a waiting write checks its stop token, its deadline, and the end of the
// wait.
constexpr std::chrono::milliseconds kAwaitedCheckEvery{20};
constexpr std::chrono::milliseconds kResumeCheckEvery{1000};
// On a full disk, memtables are flushed to release segments of the log if they have at least this
// many bytes.
constexpr uint64_t kFlushedToFreeLogBytesMin = uint64_t{32} << 10;
// The longest wait of a call that makes a small file, which has neither a deadline nor a stop
// token.
constexpr std::chrono::seconds kFileWaitMax{1};
constexpr char kFinal[] = "stele/final";  // a payload of a status

AttemptMode ModeOf(int attempts) {
  return attempts < kOptimisticAttempts ? AttemptMode::kOptimistic : AttemptMode::kExclusive;
}

// True if the write has a stop token or a deadline.
bool MayStop(const WriteOptions& options) {
  return options.stop.stop_possible() || options.deadline.has_value();
}

// Waits until none of the claimed tables is paused. Returns Cancelled or DeadlineExceeded if no
// caller waits for the write any more. The write holds no row latch meanwhile, and is not admitted
// as a large write.
absl::Status AwaitEndOfPauses(TablePauses::Claim* claim, const WriteOptions& options) {
  const std::chrono::nanoseconds every = MayStop(options) ? kAwaitedCheckEvery : kResumeCheckEvery;
  do {
    STELE_RETURN_IF_ERROR(CheckAwaited(options));
  } while (!claim->AwaitEnd(every));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAwaited(const WriteOptions& options) {
  return MayStop(options) ? LimitsOf(options).Check() : absl::OkStatus();
}

WaitLimits LimitsOf(const WriteOptions& options) {
  return {.stop = options.stop, .deadline = options.deadline};
}

absl::Status AsFinal(absl::Status status) {
  status.SetPayload(kFinal, absl::Cord());
  return status;
}

bool IsFinal(const absl::Status& status) { return status.GetPayload(kFinal).has_value(); }

std::function<absl::Status()> AwaitedCheckOf(const WriteOptions& options) {
  if (!MayStop(options)) return nullptr;
  return [&options] { return CheckAwaited(options); };
}

WriteAdmission::WriteAdmission(const Parts& parts, const EngineSizes& sizes, bool has_threads)
    : parts_(parts), sizes_(sizes), has_threads_(has_threads), large_writes_(parts.memory) {}

absl::Status WriteAdmission::Attempt(uint64_t bytes, const WriteOptions& options,
                                     AttemptWrite attempt,
                                     const WriteGate::FreesSpace& frees_space) {
  TablePauses::Claim claim(&parts_.committer->pauses());
  int attempts = 0;
  while (true) {
    const absl::Status status = AttemptUntilPause(bytes, options, attempt, frees_space, &attempts);
    const std::vector<uint32_t> tables = TablesOfPausedWrite(status);
    if (tables.empty()) return status;
    claim.Add(tables);
    EventCounts::Add(parts_.state->event_counts().pause_refusals);
    STELE_RETURN_IF_ERROR(AwaitEndOfPauses(&claim, options));
  }
}

absl::Status WriteAdmission::AttemptUntilPause(uint64_t bytes, const WriteOptions& options,
                                               AttemptWrite attempt,
                                               const WriteGate::FreesSpace& frees_space,
                                               int* attempts) {
  STELE_RETURN_IF_ERROR(parts_.gate->CheckWritable(frees_space));
  // Wait before taking the guard. Otherwise all other writes would wait for the slots of a write
  // that runs alone.
  STELE_RETURN_IF_ERROR(AwaitDebtSlots(bytes, options, frees_space));
  const LargeWrites::Guard hold(&large_writes_, bytes, AwaitedCheckOf(options));
  STELE_RETURN_IF_ERROR(hold.status());
  if (hold.is_alone()) STELE_RETURN_IF_ERROR(DrainMemtables(options));
  STELE_RETURN_IF_ERROR(AwaitMemory(bytes, options));
  // No other write runs, so exclusive mode costs nothing, and an exclusive attempt may free its
  // changes.
  if (hold.is_alone()) *attempts = std::max(*attempts, kOptimisticAttempts);
  while (*attempts < kAttemptsMax) {
    STELE_RETURN_IF_ERROR(CheckAwaited(options));
    const absl::Status status = attempt(ModeOf(*attempts));
    if (!TablesOfPausedWrite(status).empty()) return status;
    ++*attempts;
    if (ReleasedReserveFor(status, frees_space) || FlushedToFreeLog(status, options)) continue;
    if (status.code() != absl::StatusCode::kAborted) return status;
  }
  return Aborted("the rows or the schema kept changing under the write; try again");
}

// Returns true if the log had no room for a write and releasing the reserve made room just now:
// then the write should be attempted again.
bool WriteAdmission::ReleasedReserveFor(const absl::Status& refused,
                                        const WriteGate::FreesSpace& frees_space) {
  if (!LacksSpace(refused) || !frees_space || !frees_space()) return false;
  // The free space of the disk does not show a quota that is used up.
  const bool is_full = FoundNoSpace(refused) || parts_.gate->SpaceIsScarce();
  return is_full && parts_.gate->MakeRoom();
}

// Returns true if the log had no room for a write and flushes released some of its segments: then
// the write should be attempted again.
bool WriteAdmission::FlushedToFreeLog(const absl::Status& refused, const WriteOptions& options) {
  if (!absl::IsResourceExhausted(refused) || IsFinal(refused)) return false;
  if (parts_.state->memtable_bytes() < kFlushedToFreeLogBytesMin || !parts_.gate->SpaceIsScarce())
    return false;
  return !FlushAwaitsSpace() && DrainMemtables(options).ok();
}

// Returns true if the last flush of a table found no space, and no call has freed space since: a
// wait for the next attempt, up to five seconds, would only end with the same error.
bool WriteAdmission::FlushAwaitsSpace() const {
  if (!has_threads_) return false;
  MutexLock lock(parts_.state->mutex());
  return parts_.state->failures().LacksSpaceUntilRetry(std::chrono::steady_clock::now());
}

// Bytes above the budget count as memtable bytes here, whatever uses them. So they slow writers,
// but AwaitMemory does not stop writers for them, since readers may wait for a writer.
WritePressure WriteAdmission::Pressure() const {
  return {.memtable_bytes = parts_.state->memtable_bytes() + parts_.pins->ChargedBytes() +
                            parts_.memory->bytes_over(),
          .memtable_bytes_max = WriteMemoryBytes(),
          .debt_bytes = parts_.installer->debt_bytes(),
          .debt_bytes_max = DebtBytesMax()};
}

double WriteAdmission::DebtPressure() const {
  return WriteThrottle::DebtPressure(
      {.debt_bytes = parts_.installer->debt_bytes(), .debt_bytes_max = DebtBytesMax()});
}

absl::Status WriteAdmission::AwaitDebtSlots(uint64_t bytes, const WriteOptions& write,
                                            const WriteGate::FreesSpace& frees_space) {
  if (!has_threads_ || DebtPressure() <= WriteThrottle::kPressureFree) return absl::OkStatus();
  return parts_.throttle->AwaitDebtSlots(bytes, [&]() -> absl::StatusOr<double> {
    STELE_RETURN_IF_ERROR(parts_.committer->poison());  // no job reduces the debt then
    STELE_RETURN_IF_ERROR(parts_.gate->CheckWritable(frees_space));
    STELE_RETURN_IF_ERROR(CheckAwaited(write));
    return DebtPressure();
  });
}

void WriteAdmission::AwaitFileSlot(const std::stop_token& stop) {
  const auto is_behind = [this] { return DebtPressure() > WriteThrottle::kPressureFree; };
  if (parts_.installer == nullptr || !is_behind()) return;
  const WriteOptions limits{.stop = stop,
                            .deadline = std::chrono::steady_clock::now() + kFileWaitMax};
  const absl::Status waited =
      has_threads_
          ? AwaitDebtSlots(sizes_.compaction.file_debt_bytes, limits, nullptr)
          : parts_.background->StepWhile([&] { return !stop.stop_requested() && is_behind(); });
  waited.IgnoreError();
}

absl::Status WriteAdmission::AwaitMemory(uint64_t bytes, const WriteOptions& write) {
  const WritePressure pressure = Pressure();
  if (WriteThrottle::PressureOf(pressure) <= WriteThrottle::kPressureFree) return absl::OkStatus();
  if (!has_threads_) {
    return parts_.background->StepWhile(
        [this] { return WriteThrottle::PressureOf(Pressure()) > WriteThrottle::kPressureFree; });
  }
  parts_.throttle->AwaitMemorySlot(bytes, WriteThrottle::MemoryPressure(pressure));
  const auto has_room = [this] {
    return parts_.state->memtable_bytes() + parts_.pins->ChargedBytes() < WriteMemoryBytes();
  };
  if (has_room()) return absl::OkStatus();
  // A flush of any table frees memory, but only frozen memtables are flushed. The commit leader
  // froze them by the memory that the database had then. It has less once other databases share it.
  // Pinned memtables that cannot be spilled have at most a quarter (PinnedViews::ChargedBytes), so
  // there is room afterwards.
  STELE_RETURN_IF_ERROR(FreezeLargest(WriteMemoryBytes() / 2, write));
  return parts_.background->WaitForMemory(has_room, LimitsOf(write));
}

// Waits until only active memtables are in memory, which are empty or have later commits.
absl::Status WriteAdmission::DrainMemtables(const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(FreezeLargest(0, options));
  const auto is_drained = [this] {
    parts_.state->mutex().AssertHeld();
    return parts_.state->IsDrainedLocked();
  };
  return parts_.background->WaitForMemory(is_drained, LimitsOf(options));
}

absl::Status WriteAdmission::FreezeLargest(uint64_t active_bytes_max, const WriteOptions& options) {
  const auto freeze = [&] {
    parts_.state->FreezeLargest(active_bytes_max);
    return absl::OkStatus();
  };
  return parts_.committer->RunExclusive(freeze, LimitsOf(options));
}

}  // namespace stele::internal
