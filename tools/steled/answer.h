// steled/answer.h: results as the response of a call.
//
// Threads:   pure functions, but for what is added to the operations.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operations.h"

namespace stele::server {

template <typename Message>
absl::Status Answer(absl::StatusOr<Message> result, Message* response) {
  if (!result.ok()) return std::move(result).status();
  *response = *std::move(result);
  return absl::OkStatus();
}

// As an operation that is done; an error is the call's.
template <typename Message>
absl::Status AnswerDone(const absl::StatusOr<Message>& result, const google::protobuf::Message& metadata, Operations* operations,
                        google::longrunning::Operation* response) {
  if (!result.ok()) return result.status();
  *response = operations->AddDone(result->name(), metadata, *result);
  return absl::OkStatus();
}

}  // namespace stele::server
