#include "base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

namespace stele::internal {
namespace {

TEST(Mutex, CountsOfManyThreadsAddUp) {
  Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10'000; ++j) {
        MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 40'000);
}

TEST(CondVar, HandsItemsFromOneThreadToAnother) {
  constexpr int kItems = 5000;
  Mutex mutex;
  CondVar not_empty;
  CondVar not_full;
  std::deque<int> queue;
  int64_t sum = 0;
  std::thread consumer([&] {
    for (int i = 0; i < kItems; ++i) {
      MutexLock lock(mutex);
      while (queue.empty()) not_empty.Wait(mutex);
      sum += queue.front();
      queue.pop_front();
      not_full.Signal();
    }
  });
  for (int i = 0; i < kItems; ++i) {
    MutexLock lock(mutex);
    while (queue.size() >= 3) not_full.Wait(mutex);
    queue.push_back(i);
    not_empty.Signal();
  }
  consumer.join();
  EXPECT_EQ(sum, int64_t{kItems} * (kItems - 1) / 2);
}

TEST(CondVar, SignalAllWakesEveryone) {
  Mutex mutex;
  CondVar changed;
  int waiting = 0;
  bool open = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      MutexLock lock(mutex);
      ++waiting;
      changed.SignalAll();
      while (!open) changed.Wait(mutex);
    });
  }
  {
    MutexLock lock(mutex);
    while (waiting < 4) changed.Wait(mutex);
    open = true;
  }
  changed.SignalAll();
  for (std::thread& thread : threads) thread.join();
}

TEST(CondVar, WaitForEndsWithoutASignalAndHoldsTheLockAgain) {
  Mutex mutex;
  CondVar never;
  std::atomic<bool> entered{false};
  std::thread other;
  {
    MutexLock lock(mutex);
    // A spurious wake-up returns true; then wait again.
    while (never.WaitFor(mutex, std::chrono::milliseconds(1))) {
    }
    other = std::thread([&] {
      MutexLock other_lock(mutex);
      entered = true;
    });
    EXPECT_FALSE(entered);
  }
  other.join();
  EXPECT_TRUE(entered);
}

TEST(CondVar, WaitForSeesASignal) {
  Mutex mutex;
  CondVar changed;
  bool ready = false;
  std::thread signaller([&] {
    MutexLock lock(mutex);
    ready = true;
    changed.Signal();
  });
  {
    MutexLock lock(mutex);
    while (!ready) changed.WaitFor(mutex, std::chrono::hours(1));
  }
  signaller.join();
  EXPECT_TRUE(ready);
}

}  // namespace
}  // namespace stele::internal
