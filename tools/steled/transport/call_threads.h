// transport/call_threads.h: threads that wait for events and run what follows from them, as many as that takes.
//
// One function is run over and over by all of them. While one of them is busy another waits: a thread that goes off to run a method says
// so, and where nobody else waits a new one begins. Threads that had nothing to do for a while end.
//
// Threads:   thread-safe; Stop once, by a thread that is none of these.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace stele::server {

class CallThreads {
 public:
  enum class Turn { kDidWork, kHadNothing, kStop };

  // `turn` waits for something to do, between StartsWaiting() and StopsWaiting(), and does it. At most `threads_max` threads.
  CallThreads(std::function<Turn()> turn, int threads_max);
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  void Start();
  // Returns when all have ended; `turn` has to answer kStop from now on.
  void Wait();

  void StartsWaiting() { waiting_.fetch_add(1); }
  void StopsWaiting() { waiting_.fetch_sub(1); }
  // Before work that may take its time: somebody has to wait for events meanwhile.
  void Leave() {
    if (waiting_.load() == 0) Add();
  }

 private:
  static constexpr int kIdleMax = 2;

  void Add();
  void Run();

  const std::function<Turn()> turn_;
  const int threads_max_;
  std::atomic<int> waiting_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  int count_ = 0;  // guarded by mutex_
};

}  // namespace stele::server
