// stele/snapshot.h: a handle to a consistent state of the whole database.
#pragma once

#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/timestamp.h"

namespace stele {
namespace internal {
struct Access;
class SnapshotBackend;
}  // namespace internal
inline namespace v0 {

// A handle to the state of all tables at one commit, with the schema and the clock of that moment.
//
// Database::GetSnapshot creates it. Reads with ReadOptions.snapshot repeat exactly: later writes,
// drops, compactions and the passing of time do not affect them. A database on a server has none:
// GetSnapshot returns Unimplemented.
//
// Lifetime: copyable handle. Keeps the database open. The state is kept while any copy exists and
// uses disk space for data that only the snapshot needs. After Database::Close, reads through it
// return FailedPrecondition.
// Threads:   immutable; safe to share.
class [[nodiscard]] Snapshot {
 public:
  // Constructs an empty handle, which refers to no snapshot. A read with an empty handle reads the
  // newest state.
  Snapshot() = default;

  // True if the handle refers to no snapshot: default-constructed or moved from.
  bool is_empty() const { return backend_ == nullptr; }

  // Returns the database clock's time when the snapshot was taken. Reads through the snapshot use
  // it to measure ages. 0 for an empty handle.
  Timestamp time() const;

 private:
  friend struct internal::Access;

  explicit Snapshot(std::shared_ptr<internal::SnapshotBackend> backend)
      : backend_(std::move(backend)) {}

  std::shared_ptr<internal::SnapshotBackend> backend_;
};

}  // namespace v0
}  // namespace stele
