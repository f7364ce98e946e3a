// db/schema_change.h: creates, changes and deletes tables, drops row ranges, installs bulk loads.
//
// A schema change, drop or load is one edit. An edit that concerns writes is installed in an
// exclusive section, so that every write is wholly before or wholly after it. A new table or a
// property needs no section. A bulk load blocks only the writers of its own table.
//
// Path:      local_database, local_table -> here -> committer (exclusive) -> installer.
// Errors:    AlreadyExists, NotFound, InvalidArgument as the public calls say; Unavailable or ResourceExhausted of the disk: nothing
//            changed.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/edit.h"
#include "model/row_ranges.h"
#include "stele/options.h"
#include "stele/schema.h"

namespace stele::internal {

class Engine;

absl::StatusOr<uint32_t> CreateTable(Engine& engine, std::string_view name, const Schema& schema);
absl::Status DeleteTable(Engine& engine, std::string_view name);
absl::Status ChangeFamilies(Engine& engine, uint32_t table_id, std::span<const FamilyChange> changes);
absl::Status SetTableProperty(Engine& engine, uint32_t table_id, const std::string& property_key, const std::string& value);

// Engine rule 14: one edit takes the rows out of the files. Only if a memtable has a row of the range
// is it flushed before, in the exclusive section: then the edit alone says it all. On a full disk the
// flush has the reserve (db/space_reserve.h). If that is not enough, the answer is ResourceExhausted,
// and no row is dropped. Jobs of the table go on, and conditional writes that read one of the rows
// begin again (docs/decisions/0040-drops-beside-jobs.md).
absl::Status DropRows(Engine& engine, uint32_t table_id, const KeyRange& range);

// When an edit over a flushed table takes place in the commit order.
struct FlushedMoment {
  uint64_t sequence = 0;  // the edit's own: no commit has it
  int64_t now = 0;        // the database clock
};
// The act of a bulk load. Most of the table's memory is flushed. Then the table is held: its
// writers wait until the rest is flushed and the edit that `make` returns is installed over a table
// that has nothing in memory. Writers of other tables go on. Conditional writes that read one of
// `rows` before are refused and made again.
using MakeFlushedEdit = std::function<absl::StatusOr<Edit>(const Version& version, const FlushedMoment& moment)>;
absl::Status InstallFlushed(Engine& engine, uint32_t table_id, const KeyRange& rows, const MakeFlushedEdit& make);

// Freezes the table's memtable and waits until all it held is in files.
absl::Status FlushTable(Engine& engine, uint32_t table_id);
// Rewrites every tablet that overlaps the range into one settled SSTable each.
absl::Status CompactTable(Engine& engine, uint32_t table_id, const KeyRange& range, const CompactOptions& options);

}  // namespace stele::internal
