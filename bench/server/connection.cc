#include "connection.h"

#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <utility>

namespace stele_load {

Connection::Connection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  channel_->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10));
}

grpc::Status Connection::Call(const Method& method, const grpc::ByteBuffer& request, std::vector<grpc::ByteBuffer>* answers) {
  grpc::ClientContext context;
  if (!method.is_streaming) {
    const grpc::internal::RpcMethod unary(method.path, grpc::internal::RpcMethod::NORMAL_RPC);
    return grpc::internal::BlockingUnaryCall(channel_.get(), unary, &context, request, &answers->emplace_back());
  }
  const grpc::internal::RpcMethod streaming(method.path, grpc::internal::RpcMethod::SERVER_STREAMING);
  const std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> reader(
      grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(channel_.get(), streaming, &context, request));
  for (grpc::ByteBuffer message; reader->Read(&message);) answers->push_back(std::move(message));
  return reader->Finish();
}

grpc::Status Connection::Call(const char* path, const google::protobuf::MessageLite& request, google::protobuf::MessageLite* answer) {
  std::vector<grpc::ByteBuffer> answers;
  const grpc::Status status = Call(Method{.path = path}, Serialised(request), &answers);
  if (!status.ok() || Parse(answers.front(), answer)) return status;
  return grpc::Status(grpc::StatusCode::INTERNAL, std::string(path) + ": its answer cannot be read");
}

grpc::ByteBuffer Serialised(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

bool Parse(grpc::ByteBuffer bytes, google::protobuf::MessageLite* message) {
  grpc::ProtoBufferReader reader(&bytes);
  return reader.status().ok() && message->ParseFromZeroCopyStream(&reader);
}

}  // namespace stele_load
