// bench/grpc_server/grpc_service.h: the methods of steled's services as an asynchronous service of
// gRPC.
//
// It does what gRPC's generated code does for methods that are marked as raw: a request is an
// unparsed message, and gRPC delivers it together with its call. A generic service would need one
// more operation for each call, to read the request.
//
// Limits:    each request is one message. A call of a method whose request is a stream (reflection)
//            returns UNIMPLEMENTED.
// Threads:   thread-safe once it is made, except AwaitNoCalls.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_stream.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "steled/rpc/method_table.h"
#include "steled/transport/calls/method.h"

namespace stele::server {

class GrpcService final : public grpc::Service {
 public:
  struct ServedMethod {
    std::string path;
    const Method* method;
  };

  // `table` must outlive it.
  explicit GrpcService(const MethodTable& table);

  const std::vector<ServedMethod>& methods() const { return methods_; }

  // Asks for the next call of method number `index`. Its event has `tag`, and comes from `queue`.
  // The event is not OK if the server has stopped.
  void Expect(size_t index, grpc::ServerContext* context, grpc::ByteBuffer* request,
              grpc::ServerAsyncWriter<grpc::ByteBuffer>* writer, grpc::ServerCompletionQueue* queue,
              void* tag);

  // The number of calls that may still use a completion queue.
  void AddCall() { ++call_count_; }
  void RemoveCall() {
    if (--call_count_ == 0) call_count_.notify_all();
  }
  // Call it once the server has stopped.
  void AwaitNoCalls() const;

 private:
  std::vector<ServedMethod> methods_;  // never changed, since gRPC refers to the paths
  std::atomic<size_t> call_count_ = 0;
};

}  // namespace stele::server
