// wire/plain_entries.h: a MutateRows, or a MutateRow, that sets cells and does nothing else, read in place.
//
// Nearly all writes are of that kind, and protobuf makes a message and three strings of every cell: more work than to store it. Here
// names and values are views into the request. Only what protobuf reads in one way is taken: fields of known number and kind, each at most
// once, names in ASCII. For everything else, damage included, the answer is that it is not plain, and protobuf has the say.
//
// Path:      steled/mutate_rows.h, steled/data_service.h -> here -> mutation_translation.h, which checks what was read as it does with
//            protobuf's messages.
// Errors:    none.
// Threads:   pure functions.
// Source:    google.bigtable.v2.MutateRowsRequest, MutateRowRequest; protobuf's encoding.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stele::internal {

// Mutation.SetCell, with protobuf's defaults.
struct SetCellView {
  std::string_view family_name = {};
  std::string_view column_qualifier = {};
  int64_t timestamp_micros = 0;
  std::string_view value = {};
};

// Everything points into the request.
struct PlainEntries {
  struct Entry {
    std::string_view row_key = {};
    size_t cell_begin = 0;  // in PlainEntries::cells: [begin, end)
    size_t cell_end = 0;
  };

  std::span<const SetCellView> CellsOf(const Entry& entry) const {
    return std::span(cells).subspan(entry.cell_begin, entry.cell_end - entry.cell_begin);
  }

  // Beyond so many entries or cells one more is kept and no further, so that it shows that there are too many.
  static constexpr size_t kCountMax = 100'000;

  std::string_view table_name = {};
  std::string_view app_profile_id = {};
  std::string_view authorized_view_name = {};
  std::vector<Entry> entries = {};
  std::vector<SetCellView> cells = {};
};

// False: the request is not plain; `plain` holds nothing of use then. True: protobuf reads the same from it.
bool ReadPlainEntries(std::string_view request, PlainEntries* plain);

// The same of a MutateRow, whose row is the only entry. One with more than kCountMax cells is not plain.
bool ReadPlainRow(std::string_view request, PlainEntries* plain);

}  // namespace stele::internal
