// steled/transport/calls/call_threads.h: runs threads that wait for events and handle them. Few
// threads run while calls are short, and more while calls take long.
//
// All threads with a permit run the same function again and again: it waits for an event and
// handles it. There are as many permits as cores, so that events wake no more threads than can run.
// A thread with a permit runs one short call after the other without sleeping. Before a long call a
// thread passes its permit to another thread. If a call takes longer than estimated, a monitor
// thread takes the permit away (like Go's sysmon). A thread that has no work for a while ends.
//
// Errors:    without memory or the system's permission for a thread, the existing ones continue. If
//            none of them waits for events, the monitor tries to start one until it succeeds.
// Threads:   thread-safe; Start and Wait once, by a thread that is none of these.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace stele::server {

struct alignas(64) CallPermit {
  std::atomic<uint64_t> calls = 0;  // odd while it runs a short call
  uint64_t seen = 0;                // the number at the monitor's last look
};

class CallThreads {
 public:
  enum class Turn { kDidWork, kHadNothing, kStop };

  // `turn` waits for work, between StartsWaiting() and StopsWaiting(), and does it. It must not
  // throw. There are at most `threads_max` threads.
  CallThreads(std::function<Turn()> turn, int threads_max);
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // Returns false if the system refuses the monitor or all other threads. Destroy this object then.
  [[nodiscard]] bool Start();
  // Returns when all have ended; `turn` must return kStop from now on.
  void Wait();

  void StartsWaiting() { waiting_.fetch_add(1); }
  void StopsWaiting() { waiting_.fetch_sub(1); }
  // A turn calls these around each call. `is_short`: the call is estimated to be so short that
  // others may wait for its end.
  void BeginCall(bool is_short);
  void EndCall();

  // True if the monitor thread sleeps until a call begins. For tests.
  bool IsMonitorAsleep() const { return watch_sleeps_.load(); }

 private:
  static constexpr int kIdleMax = 2;  // threads that stay, however little work there is

  void Run();
  // Waits for a permit. Returns null if the thread must end; it is not counted any more.
  CallPermit* AwaitPermit();
  // These two need the lock. Gives a free permit, if there is one, to a waiting or new thread.
  void FillPermit();
  void FreePermit(CallPermit* permit);

  void Watch(const std::stop_token& stop);
  // Needs the lock. Takes away permits whose call has run since the previous look. Tries again to
  // start a thread that the system refused. Returns true if any call ran since then, or the system
  // still refuses the thread.
  bool ReclaimPermits();

  const std::function<Turn()> turn_;
  const int threads_max_;
  std::vector<CallPermit> permits_;
  std::atomic<int> waiting_ = 0;
  std::atomic<size_t> free_count_ = 0;      // size of free_, readable without the lock
  std::atomic<bool> watch_sleeps_ = false;  // until a call begins or lacks_thread_

  std::mutex mutex_;
  // Guarded by mutex_, like the next four. It has room for all permits, so no addition throws.
  std::vector<CallPermit*> free_;
  int count_ = 0;
  int unpermitted_ = 0;        // threads that wait for a permit
  bool lacks_thread_ = false;  // the system refused the last one that was tried
  bool is_stopping_ = false;
  std::condition_variable permit_freed_;
  std::condition_variable ended_;
  std::condition_variable_any call_began_;

  std::jthread watch_;
};

}  // namespace stele::server
