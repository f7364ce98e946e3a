// steled/operations.h: google.longrunning.Operations for work that is done before it is answered.
//
// Clients ask for an operation by its name even when its answer said that it was done. The newest kKept are remembered, in memory.
//
// Errors:    NOT_FOUND for a name that was never given, or was given too long ago.
// Threads:   thread-safe.
// Source:    google.longrunning.Operations.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "wire/operations.grpc.pb.h"

namespace stele::server {

class Operations final : public google::longrunning::Operations::Service {
 public:
  // Makes an operation that is done, with `metadata` and `response`, under a name of its own.
  google::longrunning::Operation AddDone(const std::string& resource, const google::protobuf::Message& metadata,
                                         const google::protobuf::Message& response);

  grpc::Status GetOperation(grpc::ServerContext* context, const google::longrunning::GetOperationRequest* request,
                            google::longrunning::Operation* response) override;

 private:
  static constexpr uint64_t kKept = 1000;

  std::mutex mutex_;
  uint64_t added_ = 0;                                         // guarded by mutex_
  std::map<uint64_t, google::longrunning::Operation> newest_;  // guarded by mutex_
};

}  // namespace stele::server
