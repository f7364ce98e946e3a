// bench/layout_lab/measure.h: checks that a layout contains the data set's cells, and times its
// reads.
//
// Units:     Bytes are stored bytes. Times are CPU time of one thread, from memory, the best of the
//            repetitions.
// Threads:   Functions without state.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.h"
#include "walk.h"

namespace stele::layout_lab {

// CPU time of this thread. Unlike elapsed time, it does not depend on the load of the machine.
double ThreadSeconds();

// The sum of the hashes of the cells that a query returns, and their number.
struct CellSum {
  uint64_t hash = 0;
  uint64_t cell_count = 0;
  bool operator==(const CellSum&) const = default;
};

// The results that reads of the data set must return, for every layout.
struct Expectation {
  CellSum all;
  CellSum projected;
  CellSum latest;
};

Expectation Expect(const DataSet& set);

struct Figures {
  uint64_t page_bytes = 0;
  uint64_t head_bytes = 0;  // of the page bytes before compression: heads
  uint64_t index_bytes = 0;
  uint64_t dictionary_bytes = 0;
  uint64_t page_count = 0;
  double encode_mb_s = 0;  // user bytes; excludes cutting pages and training
  double get_us = 0;       // a random whole row
  double scan_mb_s = 0;    // user bytes
  double scan_cells_s = 0;
  double project_cells_s = 0;  // one family; only its latest versions if there are several
  double project_get_us = 0;   // the same for one random row
  double latest_cells_s = 0;   // 0 if each column has one version
  double latest_get_us = 0;    // as above
  uint64_t TotalBytes() const { return page_bytes + index_bytes + dictionary_bytes; }
};

// Ends the program if a cell is missing, changed or in the wrong row.
void Verify(const DataSet& set, const Expectation& expected, const std::vector<Section>& sections);

// Measures everything except encode_mb_s.
Figures Measure(const DataSet& set, const Expectation& expected,
                const std::vector<Section>& sections, int repetitions);

}  // namespace stele::layout_lab
