// steled/rpc/method_table.h: maps the paths of calls to the methods of services.
//
// Used by:   the transport finds a Method here and calls it.
// Calls:     its function parses the request, calls the service, and sends the response with
//            steled/rpc/message_writer.h.
// Errors:    a call returns INTERNAL if its request cannot be parsed or is missing, like gRPC's
//            servers. INVALID_ARGUMENT would be misleading: a library, not its user, made those
//            bytes.
// Threads:   thread-compatible: filled before the server runs; many threads call a method.
// Cost:      of a call, in addition to its method: a lookup in a hash map, and an arena for the
//            request and the response.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <google/protobuf/message_lite.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "steled/transport/calls/call.h"
#include "steled/transport/calls/method.h"

namespace stele::server {

class MethodTable final : public Router {
 public:
  // No limit except the transport's.
  static constexpr size_t kAnyBytes = std::numeric_limits<size_t>::max();

  template <typename Service, typename Request, typename Response>
  using Unary = absl::Status (Service::*)(const Request& request, Response* response);
  // A method that uses its call, for example to check whether the client still waits.
  template <typename Service, typename Request, typename Response>
  using UnaryWithCall = absl::Status (Service::*)(const Request& request, Call* call,
                                                  Response* response);
  // A method that sends its responses itself.
  template <typename Service, typename Request>
  using ServerStreaming = absl::Status (Service::*)(const Request& request, Call* call);
  // A method that handles the whole call, for example with many requests.
  template <typename Service>
  using WholeCall = absl::Status (Service::*)(Call* call);

  // Adds the method "/SERVICE_NAME/METHOD_NAME" of `service`, which must outlive the table. A
  // request above `bytes_max` returns RESOURCE_EXHAUSTED. The result is for its other properties.
  template <typename Service, typename Request, typename Response>
  Method& Add(std::string_view service_name, std::string_view method_name, Service* service,
              Unary<Service, Request, Response> method, size_t bytes_max = kAnyBytes);
  template <typename Service, typename Request, typename Response>
  Method& Add(std::string_view service_name, std::string_view method_name, Service* service,
              UnaryWithCall<Service, Request, Response> method, size_t bytes_max = kAnyBytes);
  template <typename Service, typename Request>
  Method& Add(std::string_view service_name, std::string_view method_name, Service* service,
              ServerStreaming<Service, Request> method, size_t bytes_max = kAnyBytes);
  template <typename Service>
  Method& Add(std::string_view service_name, std::string_view method_name, Service* service,
              WholeCall<Service> method, size_t bytes_max = kAnyBytes);

  const Method* Find(std::string_view path) const override;

  // Sorted.
  std::vector<std::string> Paths() const;
  // The services with a method here, sorted.
  std::vector<std::string> ServiceNames() const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Method& AddMethod(std::string_view service_name, std::string_view method_name, size_t bytes_max,
                    CallFunction run);
  // `answer` is a function from a Request and the call to a Response.
  template <typename Request, typename Response, typename Answer>
  Method& AddAnswering(std::string_view service_name, std::string_view method_name,
                       size_t bytes_max, Answer answer);

  std::unordered_map<std::string, Method, Hash, std::equal_to<>> methods_;  // by path
};

// ---- the parts of a method ----

// The limit for parts (request_parts.h) of one request. The maximum number of changes in a request
// has fewer parts, however they are encoded.
inline constexpr size_t kPartsMax = 1'500'000;

// The messages of one call, which are freed together. Most calls need no other memory for them.
class CallArena {
 public:
  google::protobuf::Arena* get() { return &arena_; }

 private:
  static constexpr size_t kFirstBytes = 4096;

  google::protobuf::ArenaOptions OptionsOf() {
    google::protobuf::ArenaOptions options;
    options.initial_block = first_.data();
    options.initial_block_size = first_.size();
    return options;
  }

  alignas(std::max_align_t) std::array<char, kFirstBytes> first_;
  google::protobuf::Arena arena_{OptionsOf()};
};

// Parses a request; `call` is charged for its parts and its copy. Returns RESOURCE_EXHAUSTED if it
// has too many parts, UNAVAILABLE if there is no room for them at the moment, and INTERNAL for
// malformed bytes.
absl::Status ParseRequest(const std::string& message, Call* call,
                          google::protobuf::Message* request);
// Smaller requests are parsed and converted without a charge.
inline constexpr size_t kCountedBytes = size_t{16} << 10;
// Charges `call` for the copy of a large request that parsing or conversion makes. UNAVAILABLE:
// there is no room for it at the moment.
absl::Status ChargeCopy(size_t byte_count, Call* call);
// Receives the single request of a call, of at most `bytes_max`.
absl::Status ReceiveRequest(Call* call, size_t bytes_max, google::protobuf::Message* request);
// Receives the request without parsing it, for a method that parses it itself.
absl::Status ReceiveBytes(Call* call, std::string* message);
// Returns the error of bytes that are not a message of this type.
absl::Status MalformedRequest(size_t byte_count, std::string_view type_name);
// Sends the single response of a call.
absl::Status SendResponse(const google::protobuf::MessageLite& response, Call* call);
// Returns the status of a call whose client is gone. No client reads it, but the metrics count it.
absl::Status ClientGone();

template <typename Service, typename Request, typename Response>
Method& MethodTable::Add(std::string_view service_name, std::string_view method_name,
                         Service* service, Unary<Service, Request, Response> method,
                         size_t bytes_max) {
  return AddAnswering<Request, Response>(
      service_name, method_name, bytes_max,
      [service, method](const Request& request, Call*, Response* response) {
        return (service->*method)(request, response);
      });
}

template <typename Service, typename Request, typename Response>
Method& MethodTable::Add(std::string_view service_name, std::string_view method_name,
                         Service* service, UnaryWithCall<Service, Request, Response> method,
                         size_t bytes_max) {
  return AddAnswering<Request, Response>(
      service_name, method_name, bytes_max,
      [service, method](const Request& request, Call* call, Response* response) {
        return (service->*method)(request, call, response);
      });
}

template <typename Request, typename Response, typename Answer>
Method& MethodTable::AddAnswering(std::string_view service_name, std::string_view method_name,
                                  size_t bytes_max, Answer answer) {
  const auto run = [answer, bytes_max](Call* call) -> absl::Status {
    CallArena arena;
    auto* const request = google::protobuf::Arena::CreateMessage<Request>(arena.get());
    if (absl::Status received = ReceiveRequest(call, bytes_max, request); !received.ok())
      return received;
    auto* const response = google::protobuf::Arena::CreateMessage<Response>(arena.get());
    if (absl::Status answered = answer(*request, call, response); !answered.ok()) return answered;
    return SendResponse(*response, call);
  };
  return AddMethod(service_name, method_name, bytes_max, run);
}

template <typename Service, typename Request>
Method& MethodTable::Add(std::string_view service_name, std::string_view method_name,
                         Service* service, ServerStreaming<Service, Request> method,
                         size_t bytes_max) {
  const auto run = [service, method, bytes_max](Call* call) -> absl::Status {
    CallArena arena;
    auto* const request = google::protobuf::Arena::CreateMessage<Request>(arena.get());
    if (absl::Status received = ReceiveRequest(call, bytes_max, request); !received.ok())
      return received;
    return (service->*method)(*request, call);
  };
  return AddMethod(service_name, method_name, bytes_max, run);
}

template <typename Service>
Method& MethodTable::Add(std::string_view service_name, std::string_view method_name,
                         Service* service, WholeCall<Service> method, size_t bytes_max) {
  return AddMethod(service_name, method_name, bytes_max,
                   [service, method](Call* call) { return (service->*method)(call); });
}

}  // namespace stele::server
