// cell/prefetch_runner.h: the interface through which a cursor runs work in advance on another
// thread.
//
// Used by:   sstable/read/row_group_prefetch.cc, through CursorOptions. state/read_path.cc passes
//            it to scans. Derived class: jobs/prefetch_pool.h.
// Invariant: no result depends on a task being run. If a task has not started when its cursor needs
//            the result, the cursor cancels it and does the work itself.
// Lifetime:  a task owns the data that it uses. The runner outlives the cursors that use it. Tasks
//            outlive neither the database nor the objects that they share with it.
// Threads:   thread-safe. Cursors call Run from their threads; PrefetchTask::Run is called on any
//            thread.
#pragma once

#include <memory>

namespace stele::internal {

class PrefetchTask {
 public:
  virtual ~PrefetchTask() = default;
  // Does nothing if the task was cancelled.
  virtual void Run() = 0;
};

class PrefetchRunner {
 public:
  virtual ~PrefetchRunner() = default;
  // Returns false if the task is declined and dropped. Never waits for a task.
  virtual bool Run(std::shared_ptr<PrefetchTask> task) = 0;
  // Returns false in a forked child: tasks that the parent started never finish there.
  virtual bool IsOfThisProcess() const = 0;
};

}  // namespace stele::internal
