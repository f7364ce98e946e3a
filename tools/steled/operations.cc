#include "operations.h"

#include "errors.h"
#include "status.h"

namespace stele::server {

google::longrunning::Operation Operations::AddDone(const std::string& resource, const google::protobuf::Message& metadata,
                                                   const google::protobuf::Message& response) {
  google::longrunning::Operation operation;
  operation.mutable_metadata()->PackFrom(metadata);
  operation.mutable_response()->PackFrom(response);
  operation.set_done(true);
  const std::lock_guard lock(mutex_);
  operation.set_name(fmt::format("operations/{}/operations/{}", resource, ++added_));
  newest_.emplace(added_, operation);
  if (newest_.size() > kKept) newest_.erase(newest_.begin());
  return operation;
}

grpc::Status Operations::GetOperation(grpc::ServerContext* /*context*/, const google::longrunning::GetOperationRequest* request,
                                      google::longrunning::Operation* response) {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, operation] : newest_) {
    if (operation.name() != request->name()) continue;
    *response = operation;
    return grpc::Status::OK;
  }
  return ToGrpc(NotFound("Operation not found: {}", request->name()));
}

}  // namespace stele::server
