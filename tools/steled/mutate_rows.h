// steled/mutate_rows.h: the entries of a MutateRows: checked together, applied one by one, each with a verdict.
//
// Errors:    InvalidArgument for the request as a whole where any entry is wrong in its form; else a verdict an entry.
// Threads:   pure functions, but for what ApplyEntries does to its table and Read to its call.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/table.h"
#include "transport/call.h"
#include "wire/bigtable.pb.h"
#include "wire/mutation_translation.h"
#include "wire/plain_entries.h"

namespace stele::server {

using internal::TableTraits;

// The token of a change that came just now.
absl::StatusOr<std::string> TokenOf(const google::bigtable::v2::Idempotency& idempotency);

// In the order of the request. tokens[i] is "" where entry i has none.
struct EntryList {
  std::vector<RowMutation> mutations;
  std::vector<std::string> tokens;
};

absl::StatusOr<EntryList> ToEntries(const google::bigtable::v2::MutateRowsRequest& request, const TableTraits& traits);

// A request as it came: read in place where it only sets cells, else by protobuf.
class MutateRowsMessage {
 public:
  MutateRowsMessage() = default;
  MutateRowsMessage(const MutateRowsMessage&) = delete;  // what was read points into it
  MutateRowsMessage& operator=(const MutateRowsMessage&) = delete;

  // INTERNAL: `bytes` are no MutateRowsRequest. RESOURCE_EXHAUSTED: `call`, which is charged for what protobuf makes of them, has no room.
  absl::Status Read(std::string bytes, Call* call);

  std::string_view table_name() const { return is_plain_ ? plain_.table_name : std::string_view(request_.table_name()); }
  std::string_view authorized_view_name() const {
    return is_plain_ ? plain_.authorized_view_name : std::string_view(request_.authorized_view_name());
  }
  absl::StatusOr<EntryList> ToEntries(const TableTraits& traits) const;

 private:
  bool is_plain_ = false;
  std::string bytes_;                                // if it is, as the next
  internal::PlainEntries plain_;                     // points into them
  google::bigtable::v2::MutateRowsRequest request_;  // else
};

// In order, though nobody may rely on it; a verdict for each entry. `check` is asked now and then: once it answers an error that is the
// verdict on all entries that are left, which are not applied. `options` are those of each write, but for its token; an entry that they
// give up gets what `check` answers then.
std::vector<absl::Status> ApplyEntries(Table* table, const EntryList& entries, const WriteOptions& options,
                                       const std::function<absl::Status()>& check);

// Every index once, in order, in messages of some hundred KiB: their bytes, behind `prefix_bytes` that `send` may fill in. Stops when it
// answers false.
void SendVerdicts(std::string_view table_name, const EntryList& entries, const std::vector<absl::Status>& verdicts, size_t prefix_bytes,
                  const std::function<bool(std::string message, bool is_last)>& send);

}  // namespace stele::server
