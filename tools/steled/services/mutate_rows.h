// steled/services/mutate_rows.h: checks all entries of a MutateRows together, and applies them one
// by one, each with a status.
//
// Errors:    InvalidArgument for the whole request if the form of any entry is invalid; otherwise a
//            status for each entry.
// Threads:   pure functions, except that ApplyEntries changes its table, and Read and ChargePlain
//            charge their call.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/bigtable.pb.h"
#include "remote/wire/mutation_translation.h"
#include "remote/wire/plain_entries.h"
#include "stele/table.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

using internal::TableTraits;

// Returns the token of a change that has just arrived.
absl::StatusOr<std::string> TokenOf(const google::bigtable::v2::Idempotency& idempotency);

// The entries of a request, in its order. Each has changes. tokens[i] is "" if entry i has no
// token.
struct EntryList {
  std::vector<RowMutation> mutations;
  std::vector<std::string> tokens;
};

absl::StatusOr<EntryList> ToEntries(const google::bigtable::v2::MutateRowsRequest& request,
                                    const TableTraits& traits);

// Charges `call` for the entries of a plain request and the mutations made from them. UNAVAILABLE:
// there is no memory for them at the moment.
absl::Status ChargePlain(size_t request_bytes, const internal::PlainEntries& plain, Call* call);

// A request in its encoded form. It is parsed in place if it only sets cells, otherwise by
// protobuf.
class MutateRowsMessage {
 public:
  MutateRowsMessage() = default;
  MutateRowsMessage(const MutateRowsMessage&) = delete;  // the parsed views point into it
  MutateRowsMessage& operator=(const MutateRowsMessage&) = delete;

  // Parses `bytes`, and charges `call` for the result. Returns INTERNAL if they are not a
  // MutateRowsRequest, RESOURCE_EXHAUSTED if it has too many parts, and UNAVAILABLE if there is no
  // memory for it at the moment.
  absl::Status Read(std::string bytes, Call* call);

  std::string_view table_name() const {
    return is_plain_ ? plain_.table_name : std::string_view(request_.table_name());
  }
  std::string_view app_profile_id() const {
    return is_plain_ ? plain_.app_profile_id : std::string_view(request_.app_profile_id());
  }
  std::string_view authorized_view_name() const {
    return is_plain_ ? plain_.authorized_view_name
                     : std::string_view(request_.authorized_view_name());
  }
  absl::StatusOr<EntryList> ToEntries(const TableTraits& traits) const;

 private:
  bool is_plain_ = false;
  std::string bytes_;                                // if plain, like the next one
  internal::PlainEntries plain_;                     // points into bytes_
  google::bigtable::v2::MutateRowsRequest request_;  // otherwise
};

// Applies the entries in order, although clients must not rely on it, and returns a status for
// each. `check` is called regularly: its error becomes the status of all remaining entries, which
// are not applied. `options` apply to each write, except the token. An entry that `options` stopped
// gets the result of `check`.
std::vector<absl::Status> ApplyEntries(Table* table, const EntryList& entries,
                                       const WriteOptions& options,
                                       const std::function<absl::Status()>& check);

// The response of a MutateRows: the status of every entry, in order, in messages of some hundred
// KiB.
class EntryStatuses {
 public:
  // There is at least one entry, and a status for each.
  EntryStatuses(std::string table_name, EntryList entries, std::vector<absl::Status> statuses)
      : table_name_(std::move(table_name)),
        entries_(std::move(entries)),
        statuses_(std::move(statuses)) {}

  // Returns the next message, after `prefix_bytes` zero bytes. Sets `is_last` for the last one.
  std::string NextMessage(size_t prefix_bytes, bool* is_last);

 private:
  const std::string table_name_;
  const EntryList entries_;
  const std::vector<absl::Status> statuses_;
  size_t next_ = 0;  // the first entry of the next message
};

}  // namespace stele::server
