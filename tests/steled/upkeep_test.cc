// Tests the periodic tasks: one that throws ends neither the others nor the thread.
#include "steled/upkeep.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stop_token>

namespace stele::server {
namespace {

constexpr int kUpkeepRounds = 3;

void CountUpkeep(std::atomic<int>* count) {
  ++*count;
  count->notify_all();
}

void AwaitUpkeep(const std::atomic<int>& count) {
  for (int seen = count; seen < kUpkeepRounds; seen = count) count.wait(seen);
}

TEST(UpkeepTest, ATaskThatThrowsRunsAgainAndTheOthersRunToo) {
  std::atomic<int> failures = 0;
  std::atomic<int> successes = 0;
  const Upkeep upkeep({[&](const std::stop_token&) {
                         CountUpkeep(&failures);
                         throw std::bad_alloc();
                       },
                       [&](const std::stop_token&) { CountUpkeep(&successes); }},
                      std::chrono::milliseconds(1));
  AwaitUpkeep(failures);
  AwaitUpkeep(successes);
}

}  // namespace
}  // namespace stele::server
