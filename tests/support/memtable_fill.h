// tests/support/memtable_fill.h: fills memtables from batches and from lines of cell text.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "memtable/memtable.h"
#include "support/mutation_text.h"

namespace stele::internal {

// Applies the batch, including all its tables, as one commit.
absl::Status ApplyBatch(Memtable* memtable, uint64_t sequence, std::string_view batch);
// Applies the operations of the lines as one commit. Ends the program if that fails. The memtable's
// families are TestFamilies().
void ApplyLines(Memtable* memtable, uint64_t sequence, std::string_view lines);
// Returns options that read every family under its own family index.
CursorOptions AllFamilies(const Memtable& memtable, Direction direction = Direction::kForward);

}  // namespace stele::internal
