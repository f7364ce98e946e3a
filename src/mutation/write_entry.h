// mutation/write_entry.h: one row's change, to be committed.
//
// Lifetime:  a view; the objects that it points to must outlive the write.
#pragma once

#include <cstdint>
#include <string_view>

#include "stele/mutation.h"

namespace stele::internal {

struct WriteEntry {
  uint32_t table_id = 0;
  const RowMutation* mutation = nullptr;
  // For a conditional write, whose mutations may have no row key.
  std::string_view branch_row_key = {};
  // The same mutation, if its changes may be freed once the write can no longer be refused.
  RowMutation* owned = nullptr;

  std::string_view row_key() const {
    return branch_row_key.empty() ? std::string_view(mutation->row_key()) : branch_row_key;
  }
};

}  // namespace stele::internal
