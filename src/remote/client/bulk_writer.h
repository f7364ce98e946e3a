// remote/client/bulk_writer.h: sends many mutations in MutateRows requests, collects a result for
// each mutation, and retries those with transient failures.
//
// A request has each row at most once, and the next request is sent only after all entries of the
// previous one have results. So the changes of one row are applied in order, which MutateRows alone
// does not guarantee.
//
// Errors:    a status for each mutation.
// Threads:   confined to one call.
// Source:    google.bigtable.v2.MutateRows.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mutation/check.h"
#include "remote/client/connection.h"
#include "stele/mutation.h"
#include "stele/options.h"

namespace stele::internal {

// The limits of a request with several mutations. A gRPC server with default settings accepts 4
// MiB; the difference is for the other fields.
inline constexpr size_t kBulkRequestBytes = size_t{3} << 20;
inline constexpr size_t kBulkRequestChanges = 20'000;

class BulkWriter {
 public:
  // `schema` is the part that CheckForm needs. All arguments must outlive the writer.
  BulkWriter(const RemoteConnection* connection, const std::string* table_name,
             const MutationSchema* schema)
      : connection_(*connection), table_name_(*table_name), schema_(*schema) {}

  std::vector<FailedMutation> Apply(std::span<const RowMutation> mutations,
                                    const WriteOptions& options);

 private:
  struct Entry {
    size_t index = 0;  // of the mutation
    bool is_idempotent = false;
    bool has_token = false;
    SteadyClock::time_point begin = {};  // when it was first sent, or shortly before
    google::bigtable::v2::MutateRowsRequest::Entry message;
  };

  // Collects mutations from `begin` on, as many as fit into one request. Returns the position after
  // the last one.
  size_t Collect(std::span<const RowMutation> mutations, size_t begin, std::vector<Entry>* entries);
  // Sends the entries until each has a result. `table_is_known`: the writer has checked, after a
  // rejection, that the table exists.
  void Send(std::vector<Entry> entries, bool table_is_known);
  // Makes one attempt and removes the entries that have results from `entries`. The others may be
  // sent again after a pause.
  grpc::Status TryOnce(RemoteCall* call, std::vector<Entry>* entries);
  // Sends each half of a rejected request separately. A server rejects the whole request for one
  // bad entry.
  void SendHalves(std::vector<Entry> entries, bool table_is_known);
  // True if it is harmless to send the entry twice.
  bool IsRepeatable(const Entry& entry) const;
  bool IsTableGone() const;
  void Settle(const Entry& entry, const absl::Status& verdict) { verdicts_[entry.index] = verdict; }

  const RemoteConnection& connection_;
  const std::string& table_name_;
  const MutationSchema& schema_;
  WriteOptions options_;
  int64_t now_micros_ = 0;
  std::vector<absl::Status> verdicts_;
};

// Sets the token of a change that is sent for the first time. "": no token.
void SetToken(const std::string& token, google::bigtable::v2::Idempotency* idempotency);
// Returns a token for one of several entries.
std::string EntryToken(const std::string& token, size_t index);

}  // namespace stele::internal
