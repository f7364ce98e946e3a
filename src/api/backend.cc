#include "api/backend.h"

namespace stele::internal {

RowSource::~RowSource() = default;
SnapshotBackend::~SnapshotBackend() = default;
BulkLoadBackend::~BulkLoadBackend() = default;
TableBackend::~TableBackend() = default;
DatabaseBackend::~DatabaseBackend() = default;

}  // namespace stele::internal
