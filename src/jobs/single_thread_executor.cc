#include "jobs/single_thread_executor.h"

#include <utility>

#include "base/process_id.h"

namespace stele::internal {

SingleThreadExecutor::SingleThreadExecutor() : pid_(ProcessId()) {}

SingleThreadExecutor::~SingleThreadExecutor() {
  if (!has_thread_ || ProcessId() != pid_) return;
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.SignalAll();
  }
  ::pthread_join(thread_, nullptr);
}

// pthread_create, since std::thread would end the process if the system refuses a thread.
bool SingleThreadExecutor::BeginThread() {
  const auto run = [](void* executor) -> void* {
    static_cast<SingleThreadExecutor*>(executor)->Run();
    return nullptr;
  };
  has_thread_ = ::pthread_create(&thread_, nullptr, run, this) == 0;
  return has_thread_;
}

void SingleThreadExecutor::Submit(std::function<void()> work) {
  if (!has_thread_ && !BeginThread()) return work();
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
