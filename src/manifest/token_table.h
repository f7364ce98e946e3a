// manifest/token_table.h: the internal table that holds the idempotency tokens of the last 15 minutes.
//
// Path:      db/open.cc makes it with the database; db/token_rows.h reads and writes its rows; flush, compaction, recovery and checkpoints
//            treat it as any other table.
// Id:        0, which no table of a user gets. Its definition is a part of the format: no manifest stores it, no edit changes it.
// Names:     users cannot reach it. Its name is no valid table name, and Version::FindTable passes it over.
// Format:    docs/format/tokens.md.
#pragma once

#include <cstdint>
#include <memory>

#include "manifest/version.h"

namespace stele::internal {

inline constexpr uint32_t kTokenTableId = 0;
// No family of a user gets it.
inline constexpr uint32_t kTokenFamilyId = UINT32_MAX;

const std::shared_ptr<const TableDefinition>& TokenTableDefinition();
// Without rows: what a new database has.
std::shared_ptr<const TableState> EmptyTokenTable();

}  // namespace stele::internal
