// stele/bulk_load.h: rows in ascending order, straight into SSTables.
//
// Threads:   one thread at a time.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "stele/mutation.h"

namespace stele {
namespace internal {
class BulkLoadBackend;
}
inline namespace v0 {

// Made by Table::NewBulkLoad. Nothing is visible before Finish(), which makes all of it visible at once, as newer than everything
// written before it; after a crash or Abort(), or if it is destroyed unfinished, nothing remains. Move-only; keeps the database open.
// Not offered yet: Add and Finish answer Unimplemented.
class BulkLoad {
 public:
  // An empty load: every call is FailedPrecondition.
  BulkLoad();
  BulkLoad(BulkLoad&& other) noexcept;
  BulkLoad& operator=(BulkLoad&& other) noexcept;
  ~BulkLoad();

  // One row's cells. Rows must ascend strictly, and only SetCell is taken; else InvalidArgument, and the load stays usable. The limit on
  // the number of changes in a mutation does not apply.
  absl::Status Add(const RowMutation& mutation);
  // Durable when it answers OK. Once; afterwards every call is FailedPrecondition.
  absl::Status Finish();
  // Gives up; afterwards every call is FailedPrecondition. Harmless after Finish().
  void Abort();

  // For the engine. The second is a load that could not begin.
  explicit BulkLoad(std::unique_ptr<internal::BulkLoadBackend> backend);
  explicit BulkLoad(absl::Status error);

 private:
  std::unique_ptr<internal::BulkLoadBackend> backend_;
  absl::Status error_;  // without a backend
};

}  // namespace v0
}  // namespace stele
