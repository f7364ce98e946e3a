// db/ahead_pool.h: threads that decode what long scans come to next.
//
// Path:      row streams' cursors (sstable/group_ahead.h) -> here.
// Lifetime:  a thread is begun when there is work and none is idle, so that a database without long scans has none. Stop waits for what was
//            begun, about a flight for each thread; what waits is dropped, for its cursor takes it back.
// Errors:    none: what cannot be taken is declined.
// Threads:   thread-safe.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "cell/ahead_runner.h"

namespace stele::internal {

class AheadPool final : public AheadRunner {
 public:
  explicit AheadPool(int threads_max);
  ~AheadPool() override;

  // As many as there are processors beside the reader's own, two at most: there more than enough is decoded for any reader to keep up with.
  static int ThreadsForThisMachine();

  bool Run(std::shared_ptr<AheadTask> task) override;
  bool IsOfThisProcess() const override;
  // From here on everything is declined.
  void Stop();

 private:
  void RunThread();
  bool BeginThreadLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t threads_max_;
  const pid_t pid_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<AheadTask>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<pthread_t> threads_ ABSL_GUARDED_BY(mutex_);
  size_t idle_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace stele::internal
