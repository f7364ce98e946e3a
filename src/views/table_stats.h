// views/table_stats.h: statistics and samples of a table, computed from its view without reading
// data.
//
// In the statistics of a table, each file counts once. In those of a tablet, a file counts in
// proportion to its row-group boundaries in the tablet. Memtables count with their size before
// compression, and may include commits that reads do not see yet.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "model/row_ranges.h"
#include "read/read_view.h"
#include "stele/mutation.h"
#include "stele/stats.h"

namespace stele::internal {

TableStats StatsOf(const TableView& table);

// Returns the size of the table's SSTables. Reads no file.
uint64_t FileBytesOf(const TableView& table);

// Returns tablet starts and, at about equal distances in bytes, row keys of `rows`. The last sample
// is the end of `rows` ("" for the table's end) with all bytes. Source: Bigtable's SampleRowKeys.
std::vector<RowKeySample> SampleTable(const TableView& table, const KeyRange& rows);

}  // namespace stele::internal
