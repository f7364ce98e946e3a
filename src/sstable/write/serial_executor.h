// sstable/write/serial_executor.h: an interface for running block compression on a helper thread.
//
// Used by:   sstable/write/section_builder.cc, if the options of the builder have one. Derived
//            class: jobs/single_thread_executor.h.
// Threads:   one user, on one thread at a time.
#pragma once

#include <functional>

namespace stele::internal {

class SerialExecutor {
 public:
  SerialExecutor() = default;
  SerialExecutor(const SerialExecutor&) = delete;
  SerialExecutor& operator=(const SerialExecutor&) = delete;
  virtual ~SerialExecutor() = default;

  // Runs `work` on the helper thread, after all work started before.
  virtual void Submit(std::function<void()> work) = 0;
  // Returns when all started work is done. Its results are visible to the caller then.
  virtual void Await() = 0;
};

}  // namespace stele::internal
