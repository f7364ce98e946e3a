// steled/data_service.h: google.bigtable.v2.Bigtable over the library.
//
// Each call has a thread of gRPC's pool as long as it runs. A client that reads slowly blocks its own call in a write to its stream; what
// is held then is one message, the reader's piece of a row and its view of the table, and no lock.
//
// Errors:    Bigtable's codes; whole requests are checked before anything of them is applied.
// Threads:   thread-safe.
// Source:    google.bigtable.v2.Bigtable.
#pragma once

#include <string>
#include <vector>

#include "call_watch.h"
#include "open_tables.h"
#include "stele/mutation.h"
#include "wire/bigtable.grpc.pb.h"

namespace stele::server {

class DataService final : public google::bigtable::v2::Bigtable::Service {
 public:
  // Both have to outlive the service.
  DataService(OpenTables* tables, CallWatch* calls) : tables_(*tables), calls_(*calls) {}

  grpc::Status ReadRows(grpc::ServerContext* context, const google::bigtable::v2::ReadRowsRequest* request,
                        grpc::ServerWriter<google::bigtable::v2::ReadRowsResponse>* writer) override;
  grpc::Status SampleRowKeys(grpc::ServerContext* context, const google::bigtable::v2::SampleRowKeysRequest* request,
                             grpc::ServerWriter<google::bigtable::v2::SampleRowKeysResponse>* writer) override;
  grpc::Status MutateRow(grpc::ServerContext* context, const google::bigtable::v2::MutateRowRequest* request,
                         google::bigtable::v2::MutateRowResponse* response) override;
  grpc::Status MutateRows(grpc::ServerContext* context, const google::bigtable::v2::MutateRowsRequest* request,
                          grpc::ServerWriter<google::bigtable::v2::MutateRowsResponse>* writer) override;
  grpc::Status CheckAndMutateRow(grpc::ServerContext* context, const google::bigtable::v2::CheckAndMutateRowRequest* request,
                                 google::bigtable::v2::CheckAndMutateRowResponse* response) override;
  grpc::Status PingAndWarm(grpc::ServerContext* context, const google::bigtable::v2::PingAndWarmRequest* request,
                           google::bigtable::v2::PingAndWarmResponse* response) override;
  grpc::Status ReadModifyWriteRow(grpc::ServerContext* context, const google::bigtable::v2::ReadModifyWriteRowRequest* request,
                                  google::bigtable::v2::ReadModifyWriteRowResponse* response) override;

 private:
  // The table that a request names, once `check` has found nothing wrong in the request; it is given what the table takes, or, where there
  // is no such table, the usual: what is wrong in a request is told before what is missing.
  template <typename Check>
  absl::StatusOr<OpenTable> FindChecked(const std::string& wire_name, const Check& check);

  absl::Status Read(grpc::ServerContext* context, const google::bigtable::v2::ReadRowsRequest& request,
                    grpc::ServerWriter<google::bigtable::v2::ReadRowsResponse>* writer);
  absl::Status Mutate(const google::bigtable::v2::MutateRowRequest& request);
  absl::Status MutateMany(const google::bigtable::v2::MutateRowsRequest& request,
                          grpc::ServerWriter<google::bigtable::v2::MutateRowsResponse>* writer);
  absl::Status CheckAndMutate(const google::bigtable::v2::CheckAndMutateRowRequest& request,
                              google::bigtable::v2::CheckAndMutateRowResponse* response);
  absl::Status ReadModifyWrite(const google::bigtable::v2::ReadModifyWriteRowRequest& request,
                               google::bigtable::v2::ReadModifyWriteRowResponse* response);

  OpenTables& tables_;
  CallWatch& calls_;
};

}  // namespace stele::server
