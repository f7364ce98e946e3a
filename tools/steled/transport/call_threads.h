// transport/call_threads.h: threads that wait for events and run what follows from them, few at a time where calls are short, and as many
// as that takes where they are not.
//
// One function is run over and over by all who have a seat: it waits for an event and does what follows. There are as many seats as cores,
// so that events wake no more threads than can run: a thread with a seat goes from one short call to the next without sleeping between
// them. Before a long call a thread leaves its seat to another one; from a call that should have been short and is not, a watch takes the
// seat away. Threads that had nothing to do for a while end.
//
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

// One that runs a short call has an odd number.
struct alignas(64) CallSeat {
  std::atomic<uint64_t> calls = 0;
};

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
  // Around each call, in a turn. `is_short`: a guess, that others may wait until it ends.
  void BeginCall(bool is_short);
  void EndCall();

 private:
  static constexpr int kIdleMax = 2;  // threads that stay, however little there is to do

  void Run();
  // Waits for a seat. Null: the thread is to end, and is not counted any more.
  CallSeat* AwaitSeat();
  // These two under the lock. Somebody takes a free seat, if there is one and a thread for it.
  void FillSeat();
  void FreeSeat(CallSeat* seat);

  void Watch(const std::stop_token& stop);
  // Under the lock. Takes away the seats whose call is the one of the last look. Whether anything ran since.
  bool LookAtSeats(std::vector<uint64_t>* seen);

  const std::function<Turn()> turn_;
  const int threads_max_;
  std::vector<CallSeat> seats_;
  std::atomic<int> waiting_ = 0;
  std::atomic<size_t> free_count_ = 0;      // of free_, for those who do not take the lock
  std::atomic<bool> watch_sleeps_ = false;  // until a call begins

  std::mutex mutex_;
  std::vector<CallSeat*> free_;  // guarded by mutex_, as the next three
  int count_ = 0;
  int seatless_ = 0;  // who waits for a seat
  bool is_stopping_ = false;
  std::condition_variable seat_freed_;
  std::condition_variable ended_;
  std::condition_variable_any call_began_;

  std::jthread watch_;
};

}  // namespace stele::server
