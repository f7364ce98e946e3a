// tools/stele/replay/operation_queues.h: hands the operations of a trace to the threads of
// `stele replay`.
//
// Memory:    64 MiB of operations that did not end, and one more.
// Threads:   thread-safe. One thread pushes; each queue is for one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "replay/replay_operation.h"

namespace stele::cli {

class OperationQueues {
 public:
  explicit OperationQueues(uint64_t threads) : queues_(threads) {}

  // Appends to the queue of a thread. Waits while too many operations did not end.
  void Push(uint64_t thread, ReplayOperation operation);
  // Waits until all operations have ended.
  void AwaitEmpty();
  // No operation follows.
  void Finish();
  // Waits for operations, and moves the first of the thread's to `out`. Those that it took before
  // have ended. Returns false at the end.
  bool Take(uint64_t thread, std::vector<ReplayOperation>* out);

 private:
  struct Queue {
    std::deque<ReplayOperation> operations;
    size_t taken_bytes = 0;  // of the operations that the thread took last
    std::condition_variable filled;
  };

  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Queue> queues_;
  size_t bytes_ = 0;  // of all operations that did not end
  bool is_finished_ = false;
};

}  // namespace stele::cli
