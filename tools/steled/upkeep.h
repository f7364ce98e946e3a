// steled/upkeep.h: a thread that runs the server's periodic tasks.
//
// Errors:    a task that throws is logged, and runs again in the next round.
// Threads:   the tasks run one after the other, on one thread. The destructor requests a stop and
//            waits for the task that runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "steled/rpc/no_exceptions.h"

namespace stele::server {

class Upkeep {
 public:
  // A long task returns early once the stop is requested.
  using Task = std::function<void(const std::stop_token& stop)>;

  static constexpr std::chrono::seconds kInterval{20};

  // Runs each task now, and then every `interval`.
  explicit Upkeep(std::vector<Task> tasks, std::chrono::milliseconds interval = kInterval)
      : thread_([this, tasks = std::move(tasks), interval](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            for (const Task& task : tasks) {
              if (stop.stop_requested()) break;
              RunRound("an upkeep task", [&] { task(stop); });
            }
            std::unique_lock lock(mutex_);
            waiting_.wait_for(lock, stop, interval, [] { return false; });
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any waiting_;
  std::jthread thread_;  // last: uses the others
};

}  // namespace stele::server
