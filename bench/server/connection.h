// server/connection.h: one connection to a server, over which calls go as bytes.
//
// What is measured is the server, so the client does as little as it can: requests are serialised before the clock runs, answers are kept
// as they came and read after it stopped. The calls are those that the stubs of protoc make, with bytes in place of messages.
//
// Errors:    grpc::Status, as the server or the transport says it.
// Threads:   confined to one thread; a connection shares no socket with another.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/channel.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/rpc_method.h>

#include <memory>
#include <string>
#include <vector>

namespace stele_load {

// A method by its path, as "/google.bigtable.v2.Bigtable/MutateRow", and whether it answers with a stream.
struct Method {
  const char* path = "";
  bool is_streaming = false;
};

class Connection {
 public:
  // Returns when it is connected; if that fails the first call says why.
  explicit Connection(const std::string& address);

  // Appends the message of the answer, or all of its stream, to `answers`.
  grpc::Status Call(const Method& method, const grpc::ByteBuffer& request, std::vector<grpc::ByteBuffer>* answers);

  // A call that is not measured.
  grpc::Status Call(const char* path, const google::protobuf::MessageLite& request, google::protobuf::MessageLite* answer);

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

grpc::ByteBuffer Serialised(const google::protobuf::MessageLite& message);
// False: these are not the bytes of such a message.
bool Parse(grpc::ByteBuffer bytes, google::protobuf::MessageLite* message);

}  // namespace stele_load
