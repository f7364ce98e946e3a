// steled/services/answer.h: converts results to the response of a call.
//
// Threads:   pure functions, except for additions to the operations.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "steled/rpc/operations.h"

namespace stele::server {

template <typename Message>
absl::Status Answer(absl::StatusOr<Message> result, Message* response) {
  if (!result.ok()) return std::move(result).status();
  *response = *std::move(result);
  return absl::OkStatus();
}

// Responds with an operation that is done. An error becomes the call's error.
template <typename Message>
absl::Status AnswerDone(const absl::StatusOr<Message>& result,
                        const google::protobuf::Message& metadata, Operations* operations,
                        google::longrunning::Operation* response) {
  if (!result.ok()) return result.status();
  *response = operations->AddDone(result->name(), metadata, *result);
  return absl::OkStatus();
}

}  // namespace stele::server
