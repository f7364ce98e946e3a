// steled/upkeep.h: a thread that runs the server's periodic tasks.
//
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

namespace stele::server {

class Upkeep {
 public:
  // A long task returns early once the stop is requested.
  using Task = std::function<void(const std::stop_token& stop)>;

  // Runs each task now, and then every kInterval.
  explicit Upkeep(std::vector<Task> tasks)
      : thread_([this, tasks = std::move(tasks)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            for (const Task& task : tasks) {
              if (!stop.stop_requested()) task(stop);
            }
            std::unique_lock lock(mutex_);
            waiting_.wait_for(lock, stop, kInterval, [] { return false; });
          }
        }) {}

 private:
  static constexpr std::chrono::seconds kInterval{20};

  std::mutex mutex_;
  std::condition_variable_any waiting_;
  std::jthread thread_;  // last: uses the others
};

}  // namespace stele::server
