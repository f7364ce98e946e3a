#include "db/side_thread.h"

#include <unistd.h>

#include <utility>

namespace stele::internal {

SideThread::SideThread() : pid_(::getpid()) {}

SideThread::~SideThread() {
  if (!has_thread_ || ::getpid() != pid_) return;
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.SignalAll();
  }
  ::pthread_join(thread_, nullptr);
}

// std::thread would end the process where the system has no thread left.
bool SideThread::BeginThread() {
  const auto run = [](void* side) -> void* {
    static_cast<SideThread*>(side)->Run();
    return nullptr;
  };
  has_thread_ = ::pthread_create(&thread_, nullptr, run, this) == 0;
  return has_thread_;
}

void SideThread::Begin(std::function<void()> work) {
  if (!has_thread_ && !BeginThread()) return work();
  MutexLock lock(mutex_);
  work_.push_back(std::move(work));
  changed_.SignalAll();
}

void SideThread::Await() {
  if (::getpid() != pid_) return;
  MutexLock lock(mutex_);
  while (!work_.empty()) changed_.Wait(mutex_);
}

void SideThread::Run() {
  MutexLock lock(mutex_);
  while (true) {
    while (work_.empty() && !stop_) changed_.Wait(mutex_);
    if (work_.empty()) return;
    const std::function<void()>& work = work_.front();  // a deque's elements stay where they are while others are added
    mutex_.Unlock();
    work();
    mutex_.Lock();
    work_.pop_front();
    changed_.SignalAll();
  }
}

}  // namespace stele::internal
