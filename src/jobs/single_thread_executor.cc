#include "jobs/single_thread_executor.h"

#include <utility>

#include "base/process_id.h"

namespace stele::internal {

SingleThreadExecutor::SingleThreadExecutor() : pid_(ProcessId()) {}

SingleThreadExecutor::~SingleThreadExecutor() {
  if (!thread_.is_started() || ProcessId() != pid_) return;
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.SignalAll();
  }
  thread_.Join();
}

void SingleThreadExecutor::Submit(std::function<void()> work) {
  if (!thread_.is_started() && thread_.Start<&SingleThreadExecutor::Run>(this) != 0) return work();
  MutexLock lock(mutex_);
  work_.push_back(std::move(work));
  changed_.SignalAll();
}

void SingleThreadExecutor::Await() {
  if (ProcessId() != pid_) return;
  MutexLock lock(mutex_);
  while (!work_.empty()) changed_.Wait(mutex_);
}

void SingleThreadExecutor::Run() {
  MutexLock lock(mutex_);
  while (true) {
    while (work_.empty() && !stop_) changed_.Wait(mutex_);
    if (work_.empty()) return;
    // Elements of a deque do not move when others are appended.
    const std::function<void()>& work = work_.front();
    mutex_.Unlock();
    work();
    mutex_.Lock();
    work_.pop_front();
    changed_.SignalAll();
  }
}

}  // namespace stele::internal
