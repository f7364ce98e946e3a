#include "steled/rpc/method_table.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "steled/base/errors.h"
#include "steled/rpc/message_writer.h"
#include "steled/rpc/request_parts.h"
#include "steled/rpc/status.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

// The memory of a parsed part and of the objects that are made from it. It is the maximum that was
// measured, that of a row set.
constexpr size_t kPartBytes = 256;

absl::Status InternalError(std::string_view text) {
  return MakeStatus(absl::StatusCode::kInternal, text);
}

absl::Status ChargeParts(std::string_view message, const google::protobuf::Descriptor& type,
                         Call* call) {
  if (message.size() < kCountedBytes) return absl::OkStatus();
  const size_t part_count = CountParts(message, type);
  if (part_count > kPartsMax) {
    return MakeStatus(
        absl::StatusCode::kResourceExhausted,
        fmt::format("The request is made of {} parts, at most {} are taken; send several",
                    part_count, kPartsMax));
  }
  if (call->Reserve(part_count * kPartBytes)) return absl::OkStatus();
  return Overloaded("Too many parts of requests at once; try again later");
}

}  // namespace

Method& MethodTable::AddMethod(std::string_view service_name, std::string_view method_name,
                               size_t bytes_max, CallFunction run) {
  Method& method = methods_[fmt::format("/{}/{}", service_name, method_name)];
  method.run = [run = std::move(run)](Call* call) { return Readable(run(call)); };
  method.bytes_max = bytes_max;
  return method;
}

const Method* MethodTable::Find(std::string_view path) const {
  const auto found = methods_.find(path);
  return found == methods_.end() ? nullptr : &found->second;
}

std::vector<std::string> MethodTable::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, method] : methods_) paths.push_back(path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> MethodTable::ServiceNames() const {
  std::vector<std::string> names;
  for (const std::string& path : Paths()) {
    std::string name = path.substr(1, path.rfind('/') - 1);
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

absl::Status ChargeCopy(size_t byte_count, Call* call) {
  if (byte_count < kCountedBytes || call->Reserve(byte_count)) return absl::OkStatus();
  return Overloaded("Too many bytes of requests at once; try again later");
}

absl::Status ParseRequest(const std::string& message, Call* call,
                          google::protobuf::Message* request) {
  STELED_RETURN_IF_ERROR(ChargeParts(message, *request->GetDescriptor(), call));
  STELED_RETURN_IF_ERROR(ChargeCopy(message.size(), call));
  if (request->ParseFromString(message)) return absl::OkStatus();
  // By default protobuf accepts messages nested a hundred deep. Deeper ones that are small enough
  // for a filter are accepted here; the filter code checks them.
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(message.data()),
                                               static_cast<int>(message.size()));
  input.SetRecursionLimit(kMessageDepthMax);
  if (request->ParseFromCodedStream(&input) && input.ConsumedEntireMessage())
    return absl::OkStatus();
  return MalformedRequest(message.size(), request->GetTypeName());
}

absl::Status ReceiveRequest(Call* call, size_t bytes_max, google::protobuf::Message* request) {
  // Freed before the method runs, so that a large request is not in memory twice.
  std::string message;
  absl::Status received = ReceiveBytes(call, &message);
  if (!received.ok()) return received;
  if (message.size() <= bytes_max) return ParseRequest(message, call, request);
  return MakeStatus(absl::StatusCode::kResourceExhausted,
                    fmt::format("The request is of {} bytes, at most {} are taken here",
                                message.size(), bytes_max));
}

absl::Status ReceiveBytes(Call* call, std::string* message) {
  if (call->Receive(message)) return absl::OkStatus();
  if (call->stop().stop_requested()) return ClientGone();
  return InternalError("The call ended without a request; this method takes one");
}

absl::Status MalformedRequest(size_t byte_count, std::string_view type_name) {
  return InternalError(
      fmt::format("The request, of {} bytes, is no message {}", byte_count, type_name));
}

absl::Status SendResponse(const google::protobuf::MessageLite& response, Call* call) {
  std::optional<std::string> framed = Framed(response);
  if (!framed.has_value())
    return InternalError("The response is larger than gRPC can send; ask for less");
  return call->Send(*std::move(framed), /*is_last=*/true) ? absl::OkStatus() : ClientGone();
}

absl::Status ClientGone() {
  return MakeStatus(absl::StatusCode::kCancelled, "The client takes no more answers");
}

}  // namespace stele::server
