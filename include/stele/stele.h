// stele/stele.h: all of Stele: an embedded, durable, wide-column storage engine with Bigtable's data model.
//
//   absl::StatusOr<stele::Database> db = stele::Database::Open("/var/lib/app");
//   absl::StatusOr<stele::Table> table = db->CreateTable("events", stele::Schema().AddFamily("cf", stele::GcRule::MaxNumVersions(3)));
//   absl::Status applied = table->Apply(stele::RowMutation("row").SetCell("cf", "q", "value"));
//   stele::RowReader reader = table->ReadRows(stele::RowRange::Prefix("r"), stele::Filter::Latest(1));
//   for (const stele::RowView& row : reader) { ... }
//
// A database holds tables; a table rows, sorted by key; a row families, of columns, of cells: versions by timestamp, newest first. One
// row's change is atomic. No call throws; failures are absl::Status.
#pragma once

#include "stele/bulk_load.h"   // IWYU pragma: export
#include "stele/database.h"    // IWYU pragma: export
#include "stele/filter.h"      // IWYU pragma: export
#include "stele/gc_rule.h"     // IWYU pragma: export
#include "stele/mutation.h"    // IWYU pragma: export
#include "stele/options.h"     // IWYU pragma: export
#include "stele/row.h"         // IWYU pragma: export
#include "stele/row_reader.h"  // IWYU pragma: export
#include "stele/row_set.h"     // IWYU pragma: export
#include "stele/schema.h"      // IWYU pragma: export
#include "stele/snapshot.h"    // IWYU pragma: export
#include "stele/stats.h"       // IWYU pragma: export
#include "stele/table.h"       // IWYU pragma: export
#include "stele/timestamp.h"   // IWYU pragma: export
