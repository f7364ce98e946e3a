#include "jobs/prefetch_pool.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/process_id.h"

namespace stele::internal {
namespace {

constexpr size_t kWaitingMax = 32;  // cursors would reach further tasks before a thread does
constexpr int kThreadsMax = 2;

}  // namespace

PrefetchPool::PrefetchPool(int threads_max)
    : threads_max_(static_cast<size_t>(std::max(threads_max, 0))), pid_(ProcessId()) {}

PrefetchPool::~PrefetchPool() { Stop(); }

int PrefetchPool::ThreadsForThisMachine() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 1, 0, kThreadsMax);
}

bool PrefetchPool::IsOfThisProcess() const { return ProcessId() == pid_; }

bool PrefetchPool::Run(std::shared_ptr<PrefetchTask> task) {
  // Before the mutex, which may have been held when the process was forked.
  if (!IsOfThisProcess()) return false;
  MutexLock lock(mutex_);
  if (stopped_ || waiting_.size() >= kWaitingMax) return false;
  if (idle_count_ <= waiting_.size() && !BeginThreadLocked() && threads_.empty()) return false;
  waiting_.push_back(std::move(task));
  changed_.Signal();
  return true;
}

// Returns false if there are enough threads, or the system refuses another.
bool PrefetchPool::BeginThreadLocked() {
  if (threads_.size() == threads_max_) return false;
  Thread thread;
  // Scans work without prefetching.
  if (thread.Start<&PrefetchPool::RunThread>(this) != 0) return false;
  threads_.push_back(std::move(thread));
  return true;
}

void PrefetchPool::RunThread() {
  while (true) {
    // Destroyed outside the mutex: it may be the last owner of an open file.
    std::shared_ptr<PrefetchTask> task;
    {
      MutexLock lock(mutex_);
      ++idle_count_;
      while (!stopped_ && waiting_.empty()) changed_.Wait(mutex_);
      --idle_count_;
      if (stopped_) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task->Run();
  }
}

void PrefetchPool::Stop() {
  std::deque<std::shared_ptr<PrefetchTask>> dropped;
  std::vector<Thread> threads;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
    threads.swap(threads_);
    changed_.SignalAll();
  }
  for (Thread& thread : threads) thread.Join();
}

}  // namespace stele::internal
