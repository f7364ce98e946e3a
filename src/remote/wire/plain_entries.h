// remote/wire/plain_entries.h: parses in place a MutateRows, or a MutateRow, that only sets cells.
//
// Nearly all writes only set cells. For every cell, protobuf creates a message and three strings,
// which costs more than storing the cell. Here names and values are views into the request. Only
// input that protobuf reads in exactly one way is accepted: known fields of the right wire type,
// each at most once, names in ASCII. Everything else, malformed input included, is reported as not
// plain, and protobuf parses it.
//
// Used by:   steled/services/mutate_rows.cc, steled/services/data_service.cc. Then
//            remote/wire/mutation_translation.cc checks the result as it checks protobuf's
//            messages.
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

// All views point into the request.
struct PlainEntries {
  struct Entry {
    std::string_view row_key = {};
    size_t cell_begin = 0;  // in PlainEntries::cells: [begin, end)
    size_t cell_end = 0;
  };

  std::span<const SetCellView> CellsOf(const Entry& entry) const {
    return std::span(cells).subspan(entry.cell_begin, entry.cell_end - entry.cell_begin);
  }

  // The limit for entries and for cells. One more is kept, to show that there are too many; the
  // others are dropped.
  static constexpr size_t kCountMax = 100'000;

  std::string_view table_name = {};
  std::string_view app_profile_id = {};
  std::string_view authorized_view_name = {};
  std::vector<Entry> entries = {};
  std::vector<SetCellView> cells = {};
};

// Returns false if the request is not plain; `plain` is not usable then. If it returns true,
// protobuf would read the same.
bool ReadPlainEntries(std::string_view request, PlainEntries* plain);

// Like ReadPlainEntries, for a MutateRow, whose row is the only entry. A row with more than
// kCountMax cells is not plain.
bool ReadPlainRow(std::string_view request, PlainEntries* plain);

}  // namespace stele::internal
