// steled/answer.h: results of a request as gRPC wants them.
//
// Threads:   pure functions, but for what is added to the operations.
#pragma once

#include <grpcpp/support/status.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "operations.h"
#include "status.h"

namespace stele::server {

template <typename Message>
grpc::Status Answer(absl::StatusOr<Message> result, Message* response) {
  if (!result.ok()) return ToGrpc(result.status());
  *response = *std::move(result);
  return grpc::Status::OK;
}

// As an operation that is done; an error is the call's.
template <typename Message>
grpc::Status AnswerDone(const absl::StatusOr<Message>& result, const google::protobuf::Message& metadata, Operations* operations,
                        google::longrunning::Operation* response) {
  if (!result.ok()) return ToGrpc(result.status());
  *response = operations->AddDone(result->name(), metadata, *result);
  return grpc::Status::OK;
}

}  // namespace stele::server
