// sstable/work_beside.h: a second pair of hands for whoever writes a file: whoever has threads (db) lends one.
//
// Path:      db/side_thread.h -> SstableBuilderOptions -> section_builder: compression.
// Threads:   one user, on one thread at a time.
#pragma once

#include <functional>

namespace stele::internal {

class WorkBeside {
 public:
  WorkBeside() = default;
  WorkBeside(const WorkBeside&) = delete;
  WorkBeside& operator=(const WorkBeside&) = delete;
  virtual ~WorkBeside() = default;

  // Runs `work` beside the caller, after what was begun before.
  virtual void Begin(std::function<void()> work) = 0;
  // Returns when all that was begun has run; what it wrote can be read then.
  virtual void Await() = 0;
};

}  // namespace stele::internal
