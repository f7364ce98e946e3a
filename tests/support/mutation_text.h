// tests/support/mutation_text.h: makes batches from lines of cell text (cell_text.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cell/family_list.h"
#include "mutation/batch.h"
#include "support/cell_text.h"

namespace stele::internal {

// Returns an operation that views the bytes of `cell`. The family index becomes a family id.
BatchOp OpOf(const OwnedCell& cell, const FamilyList& families = TestFamilies());
// Makes one operation per line, in order. Adjacent lines of one row become one row of the batch.
std::string BatchOf(std::string_view lines, uint32_t table_id = 1,
                    const FamilyList& families = TestFamilies());

}  // namespace stele::internal
