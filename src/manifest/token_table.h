// manifest/token_table.h: the internal table that stores the idempotency tokens of the last 15
// minutes.
//
// Used by:   db/open.cc makes it with the database. write/token_rows.cc reads and writes its rows.
//            Flush, compaction, recovery and checkpoints treat it as any other table.
// Id:        0, which no user table has. Its definition is a part of the format: no manifest stores
//            it, and no edit changes it.
// Names:     users cannot access it. Its name is not a valid table name, and Version::FindTable
//            skips it.
// Format:    docs/reference/format/tokens.md.
#pragma once

#include <cstdint>
#include <memory>

#include "manifest/version.h"

namespace stele::internal {

// No family of a user table has this id.
inline constexpr uint32_t kTokenFamilyId = UINT32_MAX;
inline constexpr char kTokenFamilyName[] = "uses";

const std::shared_ptr<const TableDefinition>& TokenTableDefinition();
// The table without rows, as in a new database.
std::shared_ptr<const TableState> EmptyTokenTable();

}  // namespace stele::internal
