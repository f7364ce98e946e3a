#include "grpc_service.h"

namespace stele::server {

GrpcService::GrpcService(const MethodTable& table) {
  for (const std::string& path : table.Paths()) {
    const Method* const method = table.Find(path);
    if (!method->takes_stream) methods_.push_back({path, method});
  }
  // On the wire a unary method is a stream of one response.
  for (size_t index = 0; index < methods_.size(); ++index) {
    AddMethod(new grpc::internal::RpcServiceMethod(methods_[index].path.c_str(),
                                                   grpc::internal::RpcMethod::SERVER_STREAMING,
                                                   /*handler=*/nullptr));
    MarkMethodRaw(static_cast<int>(index));
  }
}

void GrpcService::Expect(size_t index, grpc::ServerContext* context, grpc::ByteBuffer* request,
                         grpc::ServerAsyncWriter<grpc::ByteBuffer>* writer,
                         grpc::ServerCompletionQueue* queue, void* tag) {
  RequestAsyncServerStreaming(static_cast<int>(index), context, request, writer, queue, queue, tag);
}

void GrpcService::AwaitNoCalls() const {
  for (size_t count = call_count_; count > 0; count = call_count_) call_count_.wait(count);
}

}  // namespace stele::server
