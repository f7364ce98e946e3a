// db/write_entry.h: one row's change on its way to a commit.
//
// Lifetime:  a view; what it points to outlives the write.
#pragma once

#include <cstdint>
#include <string_view>

#include "stele/mutation.h"

namespace stele::internal {

struct WriteEntry {
  uint32_t table_id = 0;
  const RowMutation* mutation = nullptr;
  std::string_view branch_row_key = {};  // of a conditional write, whose mutations may leave theirs empty

  std::string_view row_key() const { return branch_row_key.empty() ? std::string_view(mutation->row_key()) : branch_row_key; }
};

}  // namespace stele::internal
