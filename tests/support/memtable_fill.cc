#include "support/memtable_fill.h"

#include "base/invariant.h"
#include "base/status.h"

namespace stele::internal {

absl::Status ApplyBatch(Memtable* memtable, uint64_t sequence, std::string_view batch) {
  BatchReader reader(batch);
  RowOps row;
  uint32_t position = 0;
  while (reader.NextRow(&row)) STELE_RETURN_IF_ERROR(memtable->Apply(sequence, row, &position));
  return reader.ok() ? absl::OkStatus() : absl::DataLossError("damaged batch");
}

void ApplyLines(Memtable* memtable, uint64_t sequence, std::string_view lines) {
  STELE_CHECK(ApplyBatch(memtable, sequence, BatchOf(lines)).ok());
}

CursorOptions AllFamilies(const Memtable& memtable, Direction direction) {
  CursorOptions options{.direction = direction};
  for (uint32_t family_index = 0; family_index <= memtable.family_ids().size(); ++family_index)
    options.families.push_back(family_index);
  return options;
}

}  // namespace stele::internal
