#include "stele/snapshot.h"

#include "api/backend.h"

namespace stele {
inline namespace v0 {

Timestamp Snapshot::time() const { return backend_ == nullptr ? Timestamp() : backend_->time(); }

}  // namespace v0
}  // namespace stele
