// tests/support/mutation_text.h: batches from lines of cell text (cell_text.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cell/family_list.h"
#include "mutation/batch.h"
#include "support/cell_text.h"

namespace stele::internal {

// Views of `cell`'s bytes; its family becomes an id.
BatchOp OpOf(const OwnedCell& cell, const FamilyList& families = TestFamilies());
// One operation a line, in order; neighbouring lines of one row become one row of the batch.
std::string BatchOf(std::string_view lines, uint32_t table_id = 1, const FamilyList& families = TestFamilies());

}  // namespace stele::internal
