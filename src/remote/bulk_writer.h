// remote/bulk_writer.h: many mutations in MutateRows requests, each with a verdict of its own, and what failed for the moment again.
//
// A request holds no row twice, and what is behind a request waits until all in it have their verdicts: so the changes of one row are
// applied in order, which a MutateRows by itself does not promise.
//
// Errors:    a verdict for each mutation.
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
#include "remote/connection.h"
#include "stele/mutation.h"
#include "stele/options.h"

namespace stele::internal {

// Of a request of several mutations: below what a gRPC server takes that was told nothing, 4 MiB, with room for what it says beside them.
inline constexpr size_t kBulkRequestBytes = size_t{3} << 20;
inline constexpr size_t kBulkRequestChanges = 20'000;

class BulkWriter {
 public:
  // `schema`: what CheckForm needs. All have to outlive the writer.
  BulkWriter(const RemoteConnection* connection, const std::string* table_name, const MutationSchema* schema)
      : connection_(*connection), table_name_(*table_name), schema_(*schema) {}

  std::vector<FailedMutation> Apply(std::span<const RowMutation> mutations, const WriteOptions& options);

 private:
  struct Entry {
    size_t index = 0;  // of the mutation
    bool is_idempotent = false;
    bool has_token = false;
    SteadyClock::time_point begin = {};  // when it was first sent, or shortly before
    google::bigtable::v2::MutateRowsRequest::Entry message;
  };

  // Takes mutations from `begin` on, as many as go into one request; answers where it stopped.
  size_t Collect(std::span<const RowMutation> mutations, size_t begin, std::vector<Entry>* entries);
  // Until each of them has its verdict. `table_is_known`: the table was looked for after a refusal, and is there.
  void Send(std::vector<Entry> entries, bool table_is_known);
  // One attempt: takes those that have their verdicts out of `entries`. What is left may be sent again, after a pause.
  grpc::Status TryOnce(RemoteCall* call, std::vector<Entry>* entries);
  // The request was refused as a whole: what is wrong in one entry keeps the others out.
  void SendHalves(std::vector<Entry> entries, bool table_is_known);
  // To send it twice does no harm.
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

// Of a change that is sent for the first time. "": none.
void SetToken(const std::string& token, google::bigtable::v2::Idempotency* idempotency);
// A token for one of several entries.
std::string EntryToken(const std::string& token, size_t index);

}  // namespace stele::internal
