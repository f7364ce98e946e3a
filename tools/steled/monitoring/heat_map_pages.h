// steled/monitoring/heat_map_pages.h: the live heat map: /heatmap and /heatmap/day, which request
// /heatmap.json and /heatmap/day.json.
//
// The pages show row keys to everyone who can connect to the address of --metrics, but not to other
// web sites: see HttpPages::Page::needs_known_host.
//
// Threads:   thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "steled/monitoring/http_pages.h"
#include "steled/monitoring/live_counts.h"

namespace stele::server {

// False if this program was built without the schema lab, which draws the map.
bool HasHeatMapPages();

// Adds the pages. `refresh` is called before each list of maps is made.
void AddHeatMapPages(const std::shared_ptr<LiveCounts>& counts, std::function<void()> refresh,
                     HttpPages::Pages* pages);

}  // namespace stele::server
