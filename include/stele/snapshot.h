// stele/snapshot.h: a fixed state of a whole database to read from.
#pragma once

#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "stele/timestamp.h"

namespace stele {
namespace internal {
class SnapshotBackend;
}
inline namespace v0 {

// All tables of a database at one commit, with the schema and the time of that moment: reading through it (ReadOptions.snapshot) gives
// the same again and again, whatever is written, compacted, dropped or grows old meanwhile. Made by Database::GetSnapshot.
// Lifetime: a copyable handle; the state is kept while any copy lives, at the cost of disk space for what it alone still needs, and the
// database stays open. After Database::Close reads through it answer FailedPrecondition.
// Threads: immutable; safe to share.
class Snapshot {
 public:
  // An empty handle: reading through it is FailedPrecondition.
  Snapshot() = default;

  // The database's clock at that moment, against which ages are measured; 0 for an empty handle.
  Timestamp time() const;

  // For the engine.
  explicit Snapshot(std::shared_ptr<internal::SnapshotBackend> backend) : backend_(std::move(backend)) {}
  const std::shared_ptr<internal::SnapshotBackend>& backend() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return backend_; }

 private:
  std::shared_ptr<internal::SnapshotBackend> backend_;
};

}  // namespace v0
}  // namespace stele
