// tests/fuzz/batch_fuzz.cc: applies any bytes as a batch to a memtable, and reads the memtable.
//
// Finds: a length in the batch that reads or allocates beyond its bytes; an accepted operation that
// the memtable cannot store; rows or cells out of order. The vector cursor ends the program if the
// memtable returns cells out of order.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/invariant.h"
#include "support/memtable_fill.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stele::internal;
  const std::string_view batch(reinterpret_cast<const char*>(data), size);
  Memtable memtable(TestFamilies());
  const bool applied = ApplyBatch(&memtable, 1, batch).ok();
  STELE_CHECK(ApplyBatch(&memtable, 2, BatchOf("r a:q @5 = x\ns DELETE\nr a:q DELETE [0,4]")).ok());
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    OwnedRows rows = ReadAll(memtable.NewCursor(2, AllFamilies(memtable, direction)).get());
    if (direction == Direction::kReverse) rows = OwnedRows(rows.rbegin(), rows.rend());
    (void)NewVectorCursor(std::move(rows));
    if (applied) (void)ReadAll(memtable.NewCursor(1, AllFamilies(memtable, direction)).get());
  }
  return 0;
}
