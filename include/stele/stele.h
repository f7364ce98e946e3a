// stele/stele.h: includes the API of Stele, an embedded, durable, wide-column storage engine with
// Bigtable's data model.
//
//   absl::StatusOr<stele::Database> db = stele::Database::Open("/var/lib/app");
//   stele::Schema schema;
//   schema.AddFamily("cf", stele::GcRule::MaxNumVersions(3));
//   absl::StatusOr<stele::Table> table = db->CreateTable("events", schema);
//   absl::Status applied = table->Apply(stele::RowMutation("row").SetCell("cf", "q", "value"));
//   stele::RowReader reader =
//       table->ReadRows(stele::RowRange::Prefix("r"), stele::Filter::Latest(1));
//   for (const stele::RowView& row : reader) { ... }
//
// A database contains tables. A table contains rows, sorted by key. A row contains column families,
// a family contains columns, and a column contains cells: timestamped versions, newest first. A
// mutation of one row is atomic.
//
// Every error is returned as an absl::Status. No call throws an exception.
//
// This header does not include stele/keys.h (row keys), stele/remote.h (databases on a server) and
// stele/lab/*.h (the schema lab).
#pragma once

#include "stele/bulk_load.h"       // IWYU pragma: export
#include "stele/database.h"        // IWYU pragma: export
#include "stele/filter.h"          // IWYU pragma: export
#include "stele/gc_rule.h"         // IWYU pragma: export
#include "stele/memory_budget.h"   // IWYU pragma: export
#include "stele/mutation.h"        // IWYU pragma: export
#include "stele/options.h"         // IWYU pragma: export
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/row.h"             // IWYU pragma: export
#include "stele/row_reader.h"      // IWYU pragma: export
#include "stele/row_set.h"         // IWYU pragma: export
#include "stele/schema.h"          // IWYU pragma: export
#include "stele/snapshot.h"        // IWYU pragma: export
#include "stele/stats.h"           // IWYU pragma: export
#include "stele/table.h"           // IWYU pragma: export
#include "stele/timestamp.h"       // IWYU pragma: export
#include "stele/trace.h"           // IWYU pragma: export
