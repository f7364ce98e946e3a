// tools/stele/replay/operation_queues.h: hands the operations of a trace to the threads of
// `stele replay`.
//
// Memory:    64 MiB of operations, and one more.
// Threads:   thread-safe. One thread pushes; each queue is for one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "replay/replay_operation.h"

namespace stele::cli {

class OperationQueues {
 public:
  explicit OperationQueues(uint64_t threads) : queues_(threads) {}

  // Appends to the queue of a thread. Waits while the queues are full.
  void Push(uint64_t thread, ReplayOperation operation);
  // No operation follows.
  void Finish();
  // Waits for operations, and moves all of the thread's to `out`. Returns false at the end.
  bool TakeAll(uint64_t thread, std::vector<ReplayOperation>* out);

 private:
  struct Queue {
    std::vector<ReplayOperation> operations;
    size_t bytes = 0;
    std::condition_variable filled;
  };

  std::mutex mutex_;
  std::condition_variable taken_;
  std::vector<Queue> queues_;
  size_t bytes_ = 0;
  bool is_finished_ = false;
};

}  // namespace stele::cli
