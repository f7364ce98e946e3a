// db/table_stats.h: figures and samples of a table from what its view knows, without reading data.
//
// Shared files are counted by share: a reference that shows a part of its file counts the file's figures once per table, and in a tablet
// by the part of the file's row-group boundaries that lie in it. Memtables count with what they hold, before compression; their figures may
// run a moment ahead of what reads see.
// Threads:   pure functions.
#pragma once

#include <vector>

#include "model/row_ranges.h"
#include "read/read_view.h"
#include "stele/mutation.h"
#include "stele/stats.h"

namespace stele::internal {

TableStats StatsOf(const TableView& table);

// Tablet starts and, at about equal distances in bytes, row keys of `rows`; the last sample is the end of `rows` ("" for the table's end)
// with all bytes. Source: Bigtable's SampleRowKeys.
std::vector<RowKeySample> SampleTable(const TableView& table, const KeyRange& rows);

}  // namespace stele::internal
