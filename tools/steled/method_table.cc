#include "method_table.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "errors.h"
#include "status.h"

namespace stele::server {
namespace {

// Of messages inside of each other: a filter of as many bytes as filters may have is not deeper, as each of its levels is two messages of
// three bytes besides what is in them. Of a thread's stack it takes less than 1 MiB (measured with steled under `ulimit -s 1024`).
constexpr int kMessageDepthMax = 7'000;

absl::Status InternalError(std::string_view text) { return MakeStatus(absl::StatusCode::kInternal, text); }

}  // namespace

void MethodTable::AddMethod(std::string_view service_name, std::string_view method_name, Method method) {
  methods_.insert_or_assign(fmt::format("/{}/{}", service_name, method_name),
                            [method = std::move(method)](Call* call) { return Readable(method(call)); });
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

absl::Status ParseRequest(const std::string& message, google::protobuf::MessageLite* request) {
  if (request->ParseFromString(message)) return absl::OkStatus();
  // Protobuf takes messages a hundred deep. What is deeper, and small enough to be a filter, is for those to judge who know filters.
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(message.data()), static_cast<int>(message.size()));
  input.SetRecursionLimit(kMessageDepthMax);
  if (request->ParseFromCodedStream(&input) && input.ConsumedEntireMessage()) return absl::OkStatus();
  return NoRequest(message.size(), request->GetTypeName());
}

absl::Status ReceiveRequest(Call* call, google::protobuf::MessageLite* request) {
  std::string message;  // let go before the method runs: a large request is not held twice
  absl::Status received = ReceiveBytes(call, &message);
  return received.ok() ? ParseRequest(message, request) : received;
}

absl::Status ReceiveBytes(Call* call, std::string* message) {
  if (call->Receive(message)) return absl::OkStatus();
  if (call->stop().stop_requested()) return ClientGone();
  return InternalError("The call ended without a request; this method takes one");
}

absl::Status NoRequest(size_t byte_count, std::string_view type_name) {
  return InternalError(fmt::format("The request, of {} bytes, is no message {}", byte_count, type_name));
}

absl::Status SendResponse(const google::protobuf::MessageLite& response, Call* call) {
  std::optional<std::string> framed = Framed(response);
  if (!framed.has_value()) return InternalError("The response is larger than gRPC can send; ask for less");
  return call->Send(*std::move(framed), /*is_last=*/true) ? absl::OkStatus() : ClientGone();
}

absl::Status ClientGone() { return MakeStatus(absl::StatusCode::kCancelled, "The client takes no more answers"); }

}  // namespace stele::server
