// jobs/single_thread_executor.h: a helper thread that runs the work of its owner in order.
//
// Used by:   admin/load_files.cc, whose builder calls it as a SerialExecutor
//            (sstable/write/serial_executor.h); lab/import/table_writer.cc.
// Lifetime:  the thread starts with the first work; the destructor waits for it. In a forked child,
//            which does not have the thread, nothing waits.
// Errors:    none: if the system refuses a thread, Submit runs the work itself.
// Threads:   as SerialExecutor: one user, on one thread at a time.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>

#include "base/mutex.h"
#include "base/thread.h"
#include "sstable/write/serial_executor.h"

namespace stele::internal {

class SingleThreadExecutor : public SerialExecutor {
 public:
  SingleThreadExecutor();
  ~SingleThreadExecutor() override;

  void Submit(std::function<void()> work) override;
  void Await() override;

 private:
  void Run();

  const pid_t pid_;
  Thread thread_;  // accessed by the user's thread only
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> work_ ABSL_GUARDED_BY(mutex_);  // the first one is running
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace stele::internal
