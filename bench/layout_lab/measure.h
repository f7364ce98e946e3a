// bench/layout_lab/measure.h: proves that a layout holds the data set's cells, and times its reads.
//
// Units:     bytes as stored; times are CPU time of the one thread, from memory, the best of the repetitions.
// Threads:   functions without state.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.h"
#include "walk.h"

namespace stele::layout_lab {

// CPU time of this thread: on a machine that others use too, what they take does not count.
double ThreadSeconds();

// The sum of the hashes of the cells that a query gives, and how many they are.
struct CellSum {
  uint64_t hash = 0;
  uint64_t cell_count = 0;
  bool operator==(const CellSum&) const = default;
};

// What reads of the data set have to give, whatever the layout.
struct Expectation {
  CellSum all;
  CellSum projected;
  CellSum latest;
};

Expectation Expect(const DataSet& set);

struct Figures {
  uint64_t page_bytes = 0;
  uint64_t head_bytes = 0;  // of the pages' bytes before the codec: heads
  uint64_t index_bytes = 0;
  uint64_t dictionary_bytes = 0;
  uint64_t page_count = 0;
  double encode_mb_s = 0;  // user bytes; without cutting pages and training
  double get_us = 0;       // a random whole row
  double scan_mb_s = 0;    // user bytes
  double scan_cells_s = 0;
  double project_cells_s = 0;  // one family; its latest versions where there are several
  double project_get_us = 0;   // the same of one random row
  double latest_cells_s = 0;   // 0 where each column has one version
  double latest_get_us = 0;    // as above
  uint64_t TotalBytes() const { return page_bytes + index_bytes + dictionary_bytes; }
};

// Ends the program when a cell is missing, changed or out of its row.
void Verify(const DataSet& set, const Expectation& expected, const std::vector<Section>& sections);

// Everything but encode_mb_s.
Figures Measure(const DataSet& set, const Expectation& expected, const std::vector<Section>& sections, int repetitions);

}  // namespace stele::layout_lab
