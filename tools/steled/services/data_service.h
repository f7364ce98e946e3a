// steled/services/data_service.h: implements google.bigtable.v2.Bigtable with the library.
//
// Each call occupies a thread of the transport while it runs. A read is paused while its client
// reads slowly (read_rows_call.h).
//
// Errors:    Bigtable's codes; a request is checked completely before any of it is applied.
// Threads:   thread-safe.
// Source:    google.bigtable.v2.Bigtable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/bigtable.pb.h"
#include "stele/mutation.h"
#include "steled/monitoring/app_profile_calls.h"
#include "steled/monitoring/live_counts.h"
#include "steled/rpc/message_writer.h"
#include "steled/services/mutate_rows.h"
#include "steled/state/app_profiles.h"
#include "steled/state/instances.h"
#include "steled/state/open_tables.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

// The methods are those of the service: unary ones set `response`, the others send their responses.
class DataService {
 public:
  // All have to outlive the service. No message of a read is above `message_bytes_max`.
  // `profile_calls` and `heat` may be null.
  DataService(OpenTables* tables, const Instances* instances, const AppProfiles* profiles,
              AppProfileCalls* profile_calls, LiveCounts* heat, size_t message_bytes_max)
      : tables_(*tables),
        instances_(*instances),
        profiles_(*profiles),
        profile_calls_(profile_calls),
        heat_(heat),
        message_bytes_max_(message_bytes_max) {}

  absl::Status ReadRows(const google::bigtable::v2::ReadRowsRequest& request, Call* call);
  absl::Status SampleRowKeys(const google::bigtable::v2::SampleRowKeysRequest& request, Call* call);
  // The write methods get the call instead of a parsed request. They free the request before they
  // write, so that the server does not hold a large request twice.
  absl::Status MutateRow(Call* call);
  absl::Status MutateRows(Call* call);
  absl::Status CheckAndMutateRow(Call* call);
  absl::Status PingAndWarm(const google::bigtable::v2::PingAndWarmRequest& request,
                           google::bigtable::v2::PingAndWarmResponse* response);
  absl::Status ReadModifyWriteRow(Call* call);

 private:
  // Returns the table that a request names, after `check` has accepted the request. `check` gets
  // the limits of the table, or the default limits if the table does not exist: errors in a request
  // are reported before a missing table.
  template <typename Check>
  absl::StatusOr<OpenTable> FindChecked(std::string_view wire_name, std::string_view app_profile_id,
                                        const Check& check);

  // Counts a write of a row for the live heat map.
  void CountWrite(const OpenTable& table, std::string_view row_key);

  // A parsed MutateRow.
  struct RowWrite {
    std::string table_name;  // as in the API
    std::optional<OpenTable> table;
    RowMutation mutation;
    WriteOptions options;
  };
  absl::Status ReceiveRowWrite(Call* call, RowWrite* write);
  absl::Status ConvertPlainRow(const internal::PlainEntries& request, RowWrite* write);
  absl::Status ConvertParsedRow(const google::bigtable::v2::MutateRowRequest& request,
                                RowWrite* write);
  // A parsed CheckAndMutateRow.
  struct ConditionalWrite {
    std::string table_name;
    std::string row_key;
    std::string tag;
    std::optional<OpenTable> table;
    Filter predicate;
    RowMutation if_matched;
    RowMutation if_not_matched;
  };
  absl::Status ReceiveConditionalWrite(Call* call, ConditionalWrite* write);
  // A parsed ReadModifyWriteRow.
  struct ReadModifyWrite {
    std::string table_name;
    std::string row_key;
    std::string tag;
    std::optional<OpenTable> table;
    std::vector<ReadModifyWriteRule> rules;
  };
  absl::Status ReceiveReadModifyWrite(Call* call, ReadModifyWrite* write);
  // A parsed MutateRows.
  struct BulkWrite {
    std::string table_name;
    std::string tag;
    std::optional<OpenTable> table;
    EntryList entries;
  };
  absl::Status ReceiveBulkWrite(Call* call, BulkWrite* write);

  OpenTables& tables_;
  const Instances& instances_;
  const AppProfiles& profiles_;
  AppProfileCalls* const profile_calls_;  // may be null
  LiveCounts* const heat_;                // may be null
  const size_t message_bytes_max_;
};

}  // namespace stele::server
