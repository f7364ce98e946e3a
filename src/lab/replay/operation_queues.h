// replay/operation_queues.h: a queue of operations for each thread of a replay.
//
// Memory:    64 MiB of operations that have not ended, and one more operation.
// Threads:   thread-safe. One thread pushes; each queue is for one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/mutex.h"
#include "lab/replay/replay_operation.h"

namespace stele::internal::lab {

class OperationQueues {
 public:
  explicit OperationQueues(uint64_t threads) : queues_(threads) {}

  // Appends to the queue of a thread. Waits while the operations that have not ended reach 64 MiB.
  void Push(uint64_t thread, ReplayOperation operation) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until all operations have ended.
  void AwaitEmpty() ABSL_LOCKS_EXCLUDED(mutex_);
  // Call it after the last operation. Take() then returns false once a queue is empty.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);
  // Drops the queued operations and all later ones, and ends all waits.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for operations of the thread, and moves up to 64 of them to `out`. The call also reports
  // that those of the previous call have ended. Returns false at the end.
  bool Take(uint64_t thread, std::vector<ReplayOperation>* out) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Queue {
    std::deque<ReplayOperation> operations;
    size_t taken_bytes = 0;  // of the operations that the thread took last
    CondVar filled;
  };

  Mutex mutex_;
  CondVar ended_;
  std::deque<Queue> queues_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all operations that have not ended
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace stele::internal::lab
