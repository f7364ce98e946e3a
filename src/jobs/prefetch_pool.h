// jobs/prefetch_pool.h: the threads that decode row groups in advance for long scans.
//
// Used by:   db/engine.cc makes it. Cursors of long scans call it as a PrefetchRunner
//            (cell/prefetch_runner.h).
// Lifetime:  a thread starts when there is work and no idle thread, so a database without long
//            scans has none. Stop waits for running tasks (about one readahead batch for each
//            thread) and drops the others, whose cursors do the work.
// Errors:    none: Run returns false when the queue is full.
// Threads:   thread-safe.
#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "cell/prefetch_runner.h"

namespace stele::internal {

class PrefetchPool final : public PrefetchRunner {
 public:
  explicit PrefetchPool(int threads_max);
  ~PrefetchPool() override;

  // The number of processors other than the reader's, at most two: they decode faster than any
  // reader reads.
  static int ThreadsForThisMachine();

  bool Run(std::shared_ptr<PrefetchTask> task) override;
  bool IsOfThisProcess() const override;
  // After this call Run returns false.
  void Stop();

 private:
  void RunThread();
  bool BeginThreadLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t threads_max_;
  const pid_t pid_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<PrefetchTask>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<Thread> threads_ ABSL_GUARDED_BY(mutex_);
  size_t idle_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace stele::internal
