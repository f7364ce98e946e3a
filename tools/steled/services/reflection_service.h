// steled/services/reflection_service.h: implements grpc.reflection.v1.ServerReflection: lists the
// services and returns the files that describe them.
//
// Clients such as grpcurl learn the API from it. A call is a stream of requests, each with one
// response. A file comes with all files that it imports, directly or indirectly, except those that
// the stream has seen.
//
// Errors:    in a response: NOT_FOUND for symbols that the program does not have, UNIMPLEMENTED for
//            an unknown kind of request. As status: UNAVAILABLE if the client sends nothing for too
//            long.
// Threads:   thread-safe. A stream that waits for its client needs no thread.
// Source:    gRPC's server reflection protocol.
#pragma once

#include "absl/status/status.h"
#include "steled/rpc/method_table.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

class ReflectionService {
 public:
  // `methods` must outlive the service; methods added later are listed, too.
  explicit ReflectionService(const MethodTable* methods) : methods_(*methods) {}

  absl::Status ServerReflectionInfo(Call* call);

 private:
  const MethodTable& methods_;
};

}  // namespace stele::server
