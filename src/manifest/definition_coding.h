// manifest/definition_coding.h: a table's definition (its schema and ids) as bytes inside an edit.
//
// Format:    docs/format/manifest.md.
// Errors:    reading answers InvalidArgument for bytes that are not a definition, also for a schema that no user could have made.
// Threads:   pure functions.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/coding.h"
#include "manifest/version.h"

namespace stele::internal {

void AppendDefinition(std::string* out, const TableDefinition& definition);
absl::StatusOr<std::shared_ptr<const TableDefinition>> ReadDefinition(uint32_t table_id, ByteReader* in);

}  // namespace stele::internal
