#include "db/side_thread.h"

#include <unistd.h>

#include <utility>

namespace stele::internal {

SideThread::SideThread() : pid_(::getpid()) {}

SideThread::~SideThread() {
  if (!thread_.joinable()) return;
  if (::getpid() != pid_) {
    thread_.detach();
    return;
  }
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.SignalAll();
  }
  thread_.join();
}

void SideThread::Begin(std::function<void()> work) {
  MutexLock lock(mutex_);
  work_.push_back(std::move(work));
  changed_.SignalAll();
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
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
