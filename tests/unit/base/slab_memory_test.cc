#include "base/slab_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/random.h"

namespace stele::internal {
namespace {

struct Taken {
  MemorySlot slot;
  size_t bytes = 0;
  char mark = 0;
};

Taken Take(size_t bytes, char mark) {
  const Taken taken{AllocateSlot(bytes), bytes, mark};
  if (taken.slot.data != nullptr) std::memset(taken.slot.data, mark, bytes);
  return taken;
}

bool IsIntact(const Taken& taken) {
  return taken.slot.data[0] == taken.mark &&
         std::memcmp(taken.slot.data, taken.slot.data + 1, taken.bytes - 1) == 0;
}

// Returns the number of page frames of the range that are resident.
size_t ResidentFrames(const char* data, size_t bytes) {
  const auto frame_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(data) / frame_bytes * frame_bytes;
  std::vector<unsigned char> states(
      (reinterpret_cast<uintptr_t>(data) + bytes - begin + frame_bytes - 1) / frame_bytes);
  // Not mapped any more.
  if (::mincore(reinterpret_cast<void*>(begin), states.size() * frame_bytes, states.data()) != 0)
    return 0;
  size_t count = 0;
  for (const unsigned char state : states) count += state & 1;
  return count;
}

TEST(SlabMemory, SlotsOfAllSizesDoNotOverlapAndAreLittleTooLarge) {
  Random random(7);
  std::vector<Taken> taken;
  for (int i = 0; i < 3000; ++i) {
    const size_t bytes = kSlotBytesMin + random.Below(random.OneIn(20) ? 400'000 : 60'000);
    taken.push_back(Take(bytes, static_cast<char>(i % 251)));
    ASSERT_NE(taken.back().slot.data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(taken.back().slot.data) % 128, 0u);
    EXPECT_GE(SlotBytesFor(bytes), bytes);
    EXPECT_LE(SlotBytesFor(bytes), bytes + bytes / 16 + 4096);
    // Free one in three, at a random position.
    if (!random.OneIn(3)) continue;
    std::swap(taken[random.Below(taken.size())], taken.back());
    ASSERT_TRUE(IsIntact(taken.back()));
    FreeSlot(taken.back().slot, taken.back().bytes);
    taken.pop_back();
  }
  for (const Taken& one : taken) {
    EXPECT_TRUE(IsIntact(one));
    FreeSlot(one.slot, one.bytes);
  }
}

TEST(SlabMemory, EverySizeOfAClassFitsItsSlot) {
  for (size_t bytes = kSlotBytesMin; bytes < 140'000; bytes += 61) {
    EXPECT_GE(SlotBytesFor(bytes), bytes);
    EXPECT_GE(SlotBytesFor(bytes + 1), SlotBytesFor(bytes));
  }
  for (const size_t exact : {4096u, 8192u, 65536u, 131072u, 1048576u})
    EXPECT_EQ(SlotBytesFor(exact), exact);
}

TEST(SlabMemory, WhatIsGivenBackIsIdleUpToABoundAndThenNotResident) {
  std::vector<Taken> taken;
  for (int i = 0; i < 1000; ++i) taken.push_back(Take(33'000, 'x'));
  // Free every other one, so that no slab becomes empty.
  std::vector<const char*> gone;
  for (size_t i = 0; i < taken.size(); i += 2) {
    gone.push_back(taken[i].slot.data);
    FreeSlot(taken[i].slot, taken[i].bytes);
  }
  EXPECT_LE(MemorySlabFigures().idle_bytes, kIdleBytesMax);
  size_t resident_frames = 0;
  for (const char* data : gone) resident_frames += ResidentFrames(data, 33'000);
  // 500 slots of nine frames. Each slot may share two frames with its neighbors.
  EXPECT_LE(resident_frames, kIdleBytesMax / 4096 + 2 * gone.size());
  for (size_t i = 1; i < taken.size(); i += 2) {
    EXPECT_TRUE(IsIntact(taken[i]));
    FreeSlot(taken[i].slot, taken[i].bytes);
  }
}

TEST(SlabMemory, TheNextTakesWhatIsIdle) {
  const Taken other = Take(50'000, 'o');  // so that the slab is not freed
  const Taken first = Take(50'000, 'f');
  FreeSlot(first.slot, first.bytes);
  const uint64_t idle_before = MemorySlabFigures().idle_bytes;
  const Taken second = Take(50'000, 's');
  EXPECT_EQ(second.slot.data, first.slot.data);
  EXPECT_LT(MemorySlabFigures().idle_bytes, idle_before);
  FreeSlot(second.slot, second.bytes);
  EXPECT_TRUE(IsIntact(other));
  FreeSlot(other.slot, other.bytes);
}

TEST(SlabMemory, WhatNobodyUsesIsUnmapped) {
  const uint64_t mapped_before = MemorySlabFigures().mapped_bytes;
  std::vector<Taken> taken;
  for (int i = 0; i < 2000; ++i) taken.push_back(Take(40'000, 'm'));
  taken.push_back(Take(10 << 20, 'l'));
  EXPECT_GE(MemorySlabFigures().mapped_bytes, mapped_before + (85u << 20));
  for (const Taken& one : taken) FreeSlot(one.slot, one.bytes);
  EXPECT_LE(MemorySlabFigures().mapped_bytes, mapped_before + (2u << 20));
}

TEST(SlabMemory, WhatTheSystemRefusesIsNoSlot) {
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4})
    EXPECT_EQ(AllocateSlot(bytes).data, nullptr) << bytes;
}

TEST(SlabMemory, ThreadsGiveBackWhatOthersTook) {
  constexpr size_t kThreads = 6;
  constexpr int kRounds = 2000;
  std::atomic<bool> intact{true};
  std::vector<std::thread> threads;
  std::vector<std::vector<Taken>> handed(kThreads);
  for (size_t me = 0; me < kThreads; ++me) {
    threads.emplace_back([&, me] {
      Random random(me);
      for (int round = 0; round < kRounds; ++round) {
        handed[me].push_back(Take(kSlotBytesMin + random.Below(100'000), static_cast<char>(me)));
        if (handed[me].size() < 40) continue;
        const size_t i = random.Below(handed[me].size());
        if (!IsIntact(handed[me][i])) intact.store(false);
        FreeSlot(handed[me][i].slot, handed[me][i].bytes);
        handed[me].erase(handed[me].begin() + static_cast<ptrdiff_t>(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  // Each thread frees memory that another thread allocated.
  for (size_t me = 0; me < kThreads; ++me) {
    threads.emplace_back([&, me] {
      for (const Taken& one : handed[(me + 1) % kThreads]) {
        if (!IsIntact(one)) intact.store(false);
        FreeSlot(one.slot, one.bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(intact.load());
}

TEST(SlabMemory, AForkedChildTakesAndGivesBackWhateverOthersWereDoing) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&done] {
      while (!done.load()) {
        const Taken taken = Take(20'000, 't');
        FreeSlot(taken.slot, taken.bytes);
      }
    });
  }
  const Taken before = Take(20'000, 'b');
  for (int i = 0; i < 30; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(120);  // ends the test if a lock is never released
      bool intact = IsIntact(before);
      FreeSlot(before.slot, before.bytes);
      for (size_t bytes = 3000; bytes < 100'000; bytes += 1000) {
        const Taken taken = Take(bytes, 'c');
        intact = intact && IsIntact(taken);
        FreeSlot(taken.slot, taken.bytes);
      }
      ::_exit(intact ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    int state = -1;
    ::waitpid(child, &state, 0);
    EXPECT_EQ(state, 0);
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(IsIntact(before));
  FreeSlot(before.slot, before.bytes);
}

}  // namespace
}  // namespace stele::internal
