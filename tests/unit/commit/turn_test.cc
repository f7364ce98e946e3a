#include "commit/turn.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "base/mutex.h"

namespace stele::internal {
namespace {

constexpr std::chrono::minutes kForever{10};

TEST(Turn, PollingEndsWithoutATurn) {
  const Turn turn;
  EXPECT_FALSE(turn.PollFor(std::chrono::microseconds(1)));
}

TEST(Turn, ATurnThatWasGivenIsFoundByBothWaits) {
  Mutex mutex;
  Turn turn;
  {
    MutexLock lock(mutex);
    turn.Give();
  }
  EXPECT_TRUE(turn.PollFor(std::chrono::nanoseconds(0)));
  MutexLock lock(mutex);
  turn.Sleep(mutex);
}

TEST(Turn, ASleeperIsWoken) {
  Mutex mutex;
  Turn turn;
  std::optional<std::thread> giver;
  {
    MutexLock lock(mutex);
    // It gets the mutex only when Sleep releases it.
    giver.emplace([&] {
      MutexLock lock(mutex);
      turn.Give();
    });
    turn.Sleep(mutex);
  }
  giver->join();
}

TEST(Turn, AWakenedSleeperHasNoTurn) {
  Mutex mutex;
  Turn turn;
  std::optional<std::thread> waker;
  bool is_woken = false;
  {
    MutexLock lock(mutex);
    waker.emplace([&] {
      MutexLock lock(mutex);
      is_woken = true;
      turn.Wake();
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!is_woken) turn.SleepAtMost(mutex, kForever);
    EXPECT_LT(std::chrono::steady_clock::now(), end) << "only the time ended its sleep";
    EXPECT_FALSE(turn.is_given());
    turn.SleepAtMost(mutex, std::chrono::nanoseconds(1));  // returns without the turn
    EXPECT_FALSE(turn.is_given());
    turn.Give();
    turn.SleepAtMost(mutex, kForever);  // returns at once
    EXPECT_TRUE(turn.is_given());
  }
  waker->join();
}

// The waiter frees the turn at once. The thread sanitizer reports an access of the giver after its
// store.
TEST(Turn, AWaiterThatPollsMayFreeItsTurn) {
  Mutex mutex;
  for (int i = 0; i < 1'000; ++i) {
    auto turn = std::make_unique<Turn>();
    std::thread giver([&mutex, turn = turn.get()] {
      MutexLock lock(mutex);
      turn->Give();
    });
    const bool is_given = turn->PollFor(kForever);
    turn.reset();
    giver.join();
    ASSERT_TRUE(is_given);
  }
}

}  // namespace
}  // namespace stele::internal
