#include "db/ahead_pool.h"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace stele::internal {
namespace {

constexpr size_t kWaitingMax = 32;  // where so many wait, their cursors will be there first
constexpr int kThreadsMax = 2;

}  // namespace

AheadPool::AheadPool(int threads_max) : threads_max_(static_cast<size_t>(std::max(threads_max, 0))), pid_(::getpid()) {}

AheadPool::~AheadPool() { Stop(); }

int AheadPool::ThreadsForThisMachine() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 1, 0, kThreadsMax); }

bool AheadPool::IsOfThisProcess() const { return ::getpid() == pid_; }

bool AheadPool::Run(std::shared_ptr<AheadTask> task) {
  if (!IsOfThisProcess()) return false;  // before the mutex, which may have been held when the process forked
  MutexLock lock(mutex_);
  if (stopped_ || waiting_.size() >= kWaitingMax) return false;
  if (idle_count_ <= waiting_.size() && !BeginThreadLocked() && threads_.empty()) return false;
  waiting_.push_back(std::move(task));
  changed_.Signal();
  return true;
}

// False: there are enough, or the system refuses one more.
bool AheadPool::BeginThreadLocked() {
  if (threads_.size() == threads_max_) return false;
  // std::thread would end the process where the system has no thread left; a scan can do without.
  pthread_t thread;
  const auto run = [](void* pool) -> void* {
    static_cast<AheadPool*>(pool)->RunThread();
    return nullptr;
  };
  if (::pthread_create(&thread, nullptr, run, this) != 0) return false;
  threads_.push_back(thread);
  return true;
}

void AheadPool::RunThread() {
  while (true) {
    std::shared_ptr<AheadTask> task;  // let go outside the mutex: it may be the last that holds a file open
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

void AheadPool::Stop() {
  std::deque<std::shared_ptr<AheadTask>> dropped;
  std::vector<pthread_t> threads;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
    threads.swap(threads_);
    changed_.SignalAll();
  }
  for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
}

}  // namespace stele::internal
