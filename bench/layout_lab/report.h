// bench/layout_lab/report.h: prints the lab's figures as an aligned table and as JSON.
//
// Threads:   Confined to one thread.
#pragma once

#include <string>
#include <vector>

#include "measure.h"

namespace stele::layout_lab {

struct Combination {
  std::string data_set;
  Sections sections;
  Plain plain;
  size_t page_bytes;
  CodecKind codec;
  bool has_dictionary;
  uint64_t user_bytes;
  uint64_t section_count;
  Figures figures;
};

void PrintHeading();
void PrintLine(const Combination& combination);
// Writes an array with an object per combination. The names contain the units.
bool WriteJson(const std::string& path, int repetitions,
               const std::vector<Combination>& combinations);

}  // namespace stele::layout_lab
