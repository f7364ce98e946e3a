// steled/mutate_rows.h: the entries of a MutateRows: checked together, applied one by one, each with a verdict.
//
// Errors:    InvalidArgument for the request as a whole where any entry is wrong in its form; else a verdict an entry.
// Threads:   pure functions, but for what ApplyEntries does to its table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/table.h"
#include "wire/bigtable.pb.h"
#include "wire/mutation_translation.h"

namespace stele::server {

using internal::TableTraits;

// In the order of the request. tokens[i] is "" where entry i has none.
struct EntryList {
  std::vector<RowMutation> mutations;
  std::vector<std::string> tokens;
};

absl::StatusOr<EntryList> ToEntries(const google::bigtable::v2::MutateRowsRequest& request, const TableTraits& traits);

// In order, though nobody may rely on it; a verdict for each entry.
std::vector<absl::Status> ApplyEntries(Table* table, const EntryList& entries);

// Every index once, in order, in messages of some hundred KiB. Stops when `send` answers false.
void SendVerdicts(const google::bigtable::v2::MutateRowsRequest& request, const std::vector<absl::Status>& verdicts,
                  const std::function<bool(const google::bigtable::v2::MutateRowsResponse& message, bool is_last)>& send);

}  // namespace stele::server
