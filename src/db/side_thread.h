// db/side_thread.h: one thread beside its owner's: it does what it is given, in order.
//
// Path:      load_files -> sstable/work_beside.h -> here.
// Lifetime:  the thread begins with the first work; the end waits for it. In a forked child, where it is not, neither waits.
// Errors:    none: while the system refuses a thread, Begin does the work itself.
// Threads:   as WorkBeside: one user, on one thread at a time.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <deque>
#include <functional>

#include "base/mutex.h"
#include "sstable/work_beside.h"

namespace stele::internal {

class SideThread : public WorkBeside {
 public:
  SideThread();
  ~SideThread() override;

  void Begin(std::function<void()> work) override;
  void Await() override;

 private:
  bool BeginThread();
  void Run();

  const pid_t pid_;
  pthread_t thread_ = {};  // of the user's side, as whether there is one
  bool has_thread_ = false;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> work_ ABSL_GUARDED_BY(mutex_);  // the first is being done
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace stele::internal
