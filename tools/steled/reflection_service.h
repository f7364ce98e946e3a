// steled/reflection_service.h: grpc.reflection.v1.ServerReflection: which services there are, and the files that describe them.
//
// One stream with any number of questions, each with one answer; clients such as grpcurl learn the API from it. A file comes with those
// that it imports, directly or not, but for those that the stream has seen.
//
// Errors:    of a question: in its answer, NOT_FOUND for what the program does not have, UNIMPLEMENTED for a question of a newer kind.
// Threads:   thread-safe. A stream takes a thread as long as its client keeps it open.
// Source:    gRPC's server reflection protocol.
#pragma once

#include "absl/status/status.h"
#include "method_table.h"
#include "transport/call.h"

namespace stele::server {

class ReflectionService {
 public:
  // `methods` has to outlive the service; what is added to it later is listed, too.
  explicit ReflectionService(const MethodTable* methods) : methods_(*methods) {}

  absl::Status ServerReflectionInfo(Call* call);

 private:
  const MethodTable& methods_;
};

}  // namespace stele::server
