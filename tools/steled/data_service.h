// steled/data_service.h: google.bigtable.v2.Bigtable over the library.
//
// Each call has a thread of the transport as long as it runs. A read whose client reads slowly is paused (read_rows_call.h).
//
// Errors:    Bigtable's codes; whole requests are checked before anything of them is applied.
// Threads:   thread-safe.
// Source:    google.bigtable.v2.Bigtable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "message_writer.h"
#include "mutate_rows.h"
#include "open_tables.h"
#include "stele/mutation.h"
#include "transport/call.h"
#include "wire/bigtable.pb.h"

namespace stele::server {

// Its methods are those of the service: unary ones fill `response`, the others write their answers.
class DataService {
 public:
  // `tables` has to outlive the service. No message of a read is above `message_bytes_max`.
  DataService(OpenTables* tables, size_t message_bytes_max) : tables_(*tables), message_bytes_max_(message_bytes_max) {}

  absl::Status ReadRows(const google::bigtable::v2::ReadRowsRequest& request, Call* call);
  absl::Status SampleRowKeys(const google::bigtable::v2::SampleRowKeysRequest& request, Call* call,
                             MessageWriter<google::bigtable::v2::SampleRowKeysResponse>* writer);
  // Whole, these two: their requests are read in place.
  absl::Status MutateRow(Call* call);
  absl::Status MutateRows(Call* call);
  absl::Status CheckAndMutateRow(const google::bigtable::v2::CheckAndMutateRowRequest& request, Call* call,
                                 google::bigtable::v2::CheckAndMutateRowResponse* response);
  absl::Status PingAndWarm(const google::bigtable::v2::PingAndWarmRequest& request, google::bigtable::v2::PingAndWarmResponse* response);
  absl::Status ReadModifyWriteRow(const google::bigtable::v2::ReadModifyWriteRowRequest& request, Call* call,
                                  google::bigtable::v2::ReadModifyWriteRowResponse* response);

 private:
  // The table that a request names, once `check` has found nothing wrong in the request; it is given what the table takes, or, where there
  // is no such table, the usual: what is wrong in a request is told before what is missing.
  template <typename Check>
  absl::StatusOr<OpenTable> FindChecked(std::string_view wire_name, const Check& check);

  // A MutateRow on its way to the table. The request is let go of before that: a large one is not held twice.
  struct RowWrite {
    std::string table_name;  // on the wire
    std::optional<OpenTable> table;
    RowMutation mutation;
    WriteOptions options;
  };
  absl::Status ReadRowWrite(Call* call, RowWrite* write);
  absl::Status TakePlainRow(const internal::PlainEntries& request, RowWrite* write);
  absl::Status TakeParsedRow(const google::bigtable::v2::MutateRowRequest& request, RowWrite* write);
  // Likewise of a MutateRows.
  absl::Status ReadEntries(Call* call, std::string* table_name, EntryList* entries, std::optional<OpenTable>* table);

  OpenTables& tables_;
  const size_t message_bytes_max_;
};

}  // namespace stele::server
