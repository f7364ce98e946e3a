// steled/monitoring/database_metrics.h: figures of the database and its tables for Prometheus, read
// when a page is made.
//
// Bounds:    kTableSeriesMax tables have separate series. The others share the label "other".
// Threads:   thread-safe.
#pragma once

#include <prometheus/collectable.h>

#include <memory>

#include "stele/database.h"
#include "steled/state/open_tables.h"

namespace stele::server {

inline constexpr size_t kTableSeriesMax = 100;

std::shared_ptr<prometheus::Collectable> NewDatabaseMetrics(Database database);

// `tables` has to outlive it.
std::shared_ptr<prometheus::Collectable> NewTableMetrics(OpenTables* tables);

}  // namespace stele::server
