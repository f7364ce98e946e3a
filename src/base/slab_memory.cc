#include "base/slab_memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <new>
#include <vector>

#include "base/invariant.h"
#include "base/mutex.h"

namespace stele::internal {
namespace {

constexpr size_t kFrameBytesMin = 4096;
constexpr size_t kClassesPerDoubling = 16;
// The size of a readahead window, which is allocated and freed for each range of a scan.
constexpr size_t kSlotBytesMax = 256 << 10;
constexpr size_t kClassCount =
    1 + kClassesPerDoubling * (std::bit_width(kSlotBytesMax) - std::bit_width(kSlotBytesMin));
// The maximum: large enough for few mappings with a large cache, small enough to waste little with
// a small cache.
constexpr size_t kSlabBytes = 1 << 20;
constexpr size_t kSlotsMax = 64;
constexpr size_t kFramesMax = kSlabBytes / kFrameBytesMin + 1;
constexpr size_t kShardCount = 4;  // a guess: a thread allocates at most every few microseconds

static_assert(kSlabBytes / kSlotBytesMax >= 4);

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// The page size of the operating system, the unit in which parts of a mapping can be returned.
size_t FrameBytes() {
  static const size_t bytes =
      std::max(kFrameBytesMin, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  return bytes;
}

size_t ClassOf(size_t bytes) {
  if (bytes <= kSlotBytesMin) return 0;
  // The index of the power of two at or below `bytes`.
  const size_t doubling = std::bit_width(bytes - 1) - std::bit_width(kSlotBytesMin);
  const size_t step = (kSlotBytesMin << doubling) / kClassesPerDoubling;
  return doubling * kClassesPerDoubling + (bytes - (kSlotBytesMin << doubling) + step - 1) / step;
}

size_t SlotBytesOf(size_t class_index) {
  const size_t doubling = class_index / kClassesPerDoubling;
  return (kSlotBytesMin << doubling) / kClassesPerDoubling *
         (kClassesPerDoubling + class_index % kClassesPerDoubling);
}

// Relaxed, both: may be slightly out of date, and no other memory access depends on them.
std::atomic<uint64_t> idle_bytes{0};
std::atomic<uint64_t> mapped_bytes{0};  // likewise

char* Map(size_t bytes) {
  void* const address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  mapped_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return static_cast<char*>(address);
}

void Unmap(char* address, size_t bytes) {
  // If the system refuses, for example because it cannot divide the mapping, the bytes remain
  // counted.
  if (::munmap(address, bytes) == 0) mapped_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

class Shard;

}  // namespace

// Guarded by the lock of its shard.
class Slab {
 public:
  Slab(size_t shard_index, size_t class_index)
      : shard_index_(shard_index),
        class_index_(class_index),
        slot_bytes_(SlotBytesOf(class_index)),
        slot_count_(std::min(kSlotsMax, kSlabBytes / slot_bytes_)),
        frame_bytes_(FrameBytes()),
        bytes_(RoundUp(slot_count_ * slot_bytes_, frame_bytes_)),
        data_(Map(bytes_)),
        free_(slot_count_ == kSlotsMax ? ~uint64_t{0} : (uint64_t{1} << slot_count_) - 1) {
    // With huge pages a frame would stay resident because of a used frame up to 2 MiB away.
    if (data_ != nullptr) ::madvise(data_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Slab() {
    if (data_ == nullptr) return;
    CountIdle(0, idle_frame_count_);
    Unmap(data_, bytes_);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  bool is_mapped() const { return data_ != nullptr; }
  size_t shard_index() const { return shard_index_; }
  size_t class_index() const { return class_index_; }
  bool has_room() const { return free_ != 0; }
  bool is_unused() const { return static_cast<size_t>(std::popcount(free_)) == slot_count_; }

  // The slab must have a free slot.
  MemorySlot Take() {
    const uint64_t resident = free_ & used_before_;
    const auto slot = static_cast<size_t>(std::countr_zero(resident != 0 ? resident : free_));
    free_ &= ~(uint64_t{1} << slot);
    used_before_ |= uint64_t{1} << slot;
    const size_t idle_before = idle_frame_count_;
    for (size_t frame = FirstFrame(slot); frame <= LastFrame(slot); ++frame) {
      if (users_[frame]++ != 0) continue;
      if (is_resident_[frame]) --idle_frame_count_;
      is_resident_[frame] = true;
    }
    CountIdle(idle_frame_count_, idle_before);
    return {.data = data_ + slot * slot_bytes_, .slab = this};
  }

  void GiveBack(const char* data) {
    const auto slot = static_cast<size_t>(data - data_) / slot_bytes_;
    STELE_INVARIANT((free_ >> slot & 1) == 0);
    free_ |= uint64_t{1} << slot;
    const size_t idle_before = idle_frame_count_;
    for (size_t frame = FirstFrame(slot); frame <= LastFrame(slot); ++frame) {
      if (--users_[frame] == 0) ++idle_frame_count_;
    }
    CountIdle(idle_frame_count_, idle_before);
  }

  void Purge() {
    const size_t idle_before = idle_frame_count_;
    for (size_t frame = 0; frame * frame_bytes_ < bytes_ && idle_frame_count_ > 0; ++frame) {
      size_t end = frame;
      while (end * frame_bytes_ < bytes_ && users_[end] == 0 && is_resident_[end]) ++end;
      if (end == frame) continue;
      static_cast<void>(
          ::madvise(data_ + frame * frame_bytes_, (end - frame) * frame_bytes_, MADV_DONTNEED));
      idle_frame_count_ -= end - frame;
      for (; frame < end; ++frame) is_resident_[frame] = false;
    }
    used_before_ &= ~free_;
    CountIdle(idle_frame_count_, idle_before);
  }

  // Links in its size class's list of slabs with free slots.
  Slab* next = nullptr;
  Slab* previous = nullptr;

 private:
  size_t FirstFrame(size_t slot) const { return slot * slot_bytes_ / frame_bytes_; }
  size_t LastFrame(size_t slot) const { return ((slot + 1) * slot_bytes_ - 1) / frame_bytes_; }
  void CountIdle(size_t now, size_t before) const {
    if (now != before)
      idle_bytes.fetch_add((uint64_t{now} - before) * frame_bytes_, std::memory_order_relaxed);
  }

  const size_t shard_index_;
  const size_t class_index_;
  const size_t slot_bytes_;
  const size_t slot_count_;
  const size_t frame_bytes_;
  const size_t bytes_;
  char* const data_;
  uint64_t free_;             // one bit per slot
  uint64_t used_before_ = 0;  // slots that were allocated at some time since the last purge
  size_t idle_frame_count_ = 0;
  // Allocated slots that touch the frame, three at most.
  std::array<uint8_t, kFramesMax> users_ = {};
  std::array<bool, kFramesMax> is_resident_ = {};
};

namespace {

class Shard {
 public:
  MemorySlot Take(size_t shard_index, size_t class_index) {
    MutexLock lock(mutex_);
    Slab*& first = with_room_[class_index];
    if (first == nullptr) {
      std::unique_ptr<Slab> slab(new (std::nothrow) Slab(shard_index, class_index));
      if (slab == nullptr || !slab->is_mapped()) return {};
      Link(slab.release());
    }
    Slab* const slab = first;
    const MemorySlot slot = slab->Take();
    if (!slab->has_room()) Unlink(slab);
    return slot;
  }

  void GiveBack(const MemorySlot& slot) {
    std::unique_ptr<Slab> unused;  // unmapped after the lock is released
    MutexLock lock(mutex_);
    Slab* const slab = slot.slab;
    const bool had_room = slab->has_room();
    slab->GiveBack(slot.data);
    if (!had_room) Link(slab);
    if (!slab->is_unused() || (slab->next == nullptr && slab->previous == nullptr)) return;
    Unlink(slab);
    unused.reset(slab);
  }

  void Purge() {
    MutexLock lock(mutex_);
    for (Slab* const first : with_room_) {
      for (Slab* slab = first; slab != nullptr; slab = slab->next) slab->Purge();
    }
  }

  void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  void Link(Slab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Slab*& first = with_room_[slab->class_index()];
    slab->next = first;
    if (first != nullptr) first->previous = slab;
    first = slab;
  }
  void Unlink(Slab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    (slab->previous != nullptr ? slab->previous->next : with_room_[slab->class_index()]) =
        slab->next;
    if (slab->next != nullptr) slab->next->previous = slab->previous;
    slab->next = slab->previous = nullptr;
  }

  Mutex mutex_;
  // By size class. A full slab is reachable through its slots only.
  std::array<Slab*, kClassCount> with_room_ ABSL_GUARDED_BY(mutex_) = {};
};

// Lives as long as the process: static destructors may still free slots.
class AllShards {
 public:
  static AllShards& Get() {
    alignas(AllShards) static char memory[sizeof(AllShards)];
    static AllShards* const shards = new (memory) AllShards();
    return *shards;
  }

  MemorySlot Take(size_t class_index) {
    thread_local const size_t own = threads_.fetch_add(1, std::memory_order_relaxed) % kShardCount;
    return shards_[own].Take(own, class_index);
  }
  void GiveBack(const MemorySlot& slot) {
    shards_[slot.slab->shard_index()].GiveBack(slot);
    if (idle_bytes.load(std::memory_order_relaxed) > kIdleBytesMax) Purge();
  }

 private:
  AllShards() {
    // Another thread may hold a lock at the moment of a fork, and would never release it in the
    // child.
    ::pthread_atfork([] { Get().LockForFork(); }, [] { Get().UnlockAfterFork(); },
                     [] { Get().UnlockAfterFork(); });
  }
  void Purge() {
    if (is_purging_.exchange(true, std::memory_order_acquire)) return;
    for (Shard& shard : shards_) shard.Purge();
    is_purging_.store(false, std::memory_order_release);
  }
  void LockForFork() {
    for (Shard& shard : shards_) shard.LockForFork();
  }
  void UnlockAfterFork() {
    for (Shard& shard : shards_) shard.UnlockAfterFork();
    // Another thread may start a purge at the same time in the parent, which is harmless.
    is_purging_.store(false, std::memory_order_relaxed);
  }

  std::array<Shard, kShardCount> shards_;
  std::atomic<size_t> threads_{0};       // relaxed: only an even distribution matters
  std::atomic<bool> is_purging_{false};  // acquire and release: only one thread purges at a time
};

}  // namespace

MemorySlot AllocateSlot(size_t bytes) {
  if (bytes <= kSlotBytesMax) return AllShards::Get().Take(ClassOf(bytes));
  if (bytes > SIZE_MAX / 2) return {};
  return {.data = Map(SlotBytesFor(bytes))};
}

void FreeSlot(const MemorySlot& slot, size_t bytes) {
  if (slot.slab != nullptr) return AllShards::Get().GiveBack(slot);
  Unmap(slot.data, SlotBytesFor(bytes));
}

void PopulateMemory(char* data, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const uintptr_t frame = FrameBytes();
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + frame - 1) / frame * frame;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / frame * frame;
  // A failure, for example on a kernel without this call, changes nothing.
  if (begin < end)
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE));
#endif
}

size_t SlotBytesFor(size_t bytes) {
  return bytes <= kSlotBytesMax ? SlotBytesOf(ClassOf(bytes)) : RoundUp(bytes, FrameBytes());
}

SlabFigures MemorySlabFigures() {
  return {.idle_bytes = idle_bytes.load(std::memory_order_relaxed),
          .mapped_bytes = mapped_bytes.load(std::memory_order_relaxed)};
}

}  // namespace stele::internal
