// cell/ahead_runner.h: where a cursor hands over work that it will need soon, to be done on another core meanwhile.
//
// Path:      db's pool -> read -> CursorOptions -> sstable/group_ahead.h.
// Invariant: nothing depends on a task being run: who handed it over takes it back when it comes to need it and nobody has begun.
// Lifetime:  a task owns what it uses; the runner outlives the cursors that were given it, and its tasks what they share with the database.
// Threads:   thread-safe. Run is called from the cursors' threads, AheadTask::Run from any.
#pragma once

#include <memory>

namespace stele::internal {

class AheadTask {
 public:
  virtual ~AheadTask() = default;
  // Does nothing when it was taken back.
  virtual void Run() = 0;
};

class AheadRunner {
 public:
  virtual ~AheadRunner() = default;
  // False: declined, and let go of. Never waits for a task.
  virtual bool Run(std::shared_ptr<AheadTask> task) = 0;
  // False: what was begun may never end, for this is a fork of the process that began it.
  virtual bool IsOfThisProcess() const = 0;
};

}  // namespace stele::internal
