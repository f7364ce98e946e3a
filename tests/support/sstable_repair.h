// support/sstable_repair.h: checksums of a changed SSTable made right again, so that what lies behind them is reached: a file that lies.
//
// Threads:   pure functions.
#pragma once

#include <string>

namespace stele::internal {

// As far as footer and index can be read. Lengths and offsets stay as they are, and so do the checksums of large values.
void RepairChecksums(std::string* bytes);

}  // namespace stele::internal
