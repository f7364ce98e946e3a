// steled/method_table.h: which method of which service answers a path.
//
// Path:      transport -> Find -> a Method made here: it parses the request, calls the service and sends what that answers.
// Errors:    of a call: INTERNAL where its request is not one of the method, as gRPC's own servers say, and where there is none. A client's
//            library made those bytes, so that INVALID_ARGUMENT, which is about what they say, would send its user looking in the wrong
//            place.
// Threads:   thread-compatible: filled before the server runs; a method is called by many threads.
// Cost:      of a call, beside its method: a look into a hash map, and an arena that holds the request and the response.
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
#include "message_writer.h"
#include "transport/call.h"

namespace stele::server {

class MethodTable final : public Router {
 public:
  // For requests that are as large as the transport takes.
  static constexpr size_t kAnyBytes = std::numeric_limits<size_t>::max();

  template <typename Service, typename Request, typename Response>
  using Unary = absl::Status (Service::*)(const Request& request, Response* response);
  // One that looks at its call, as whether anybody still waits for it.
  template <typename Service, typename Request, typename Response>
  using Watching = absl::Status (Service::*)(const Request& request, Call* call, Response* response);
  // One that sends what it answers itself.
  template <typename Service, typename Request>
  using Sending = absl::Status (Service::*)(const Request& request, Call* call);
  template <typename Service, typename Request, typename Response>
  using Streaming = absl::Status (Service::*)(const Request& request, Call* call, MessageWriter<Response>* writer);
  // The whole call is the method's, as one with many requests needs it.
  template <typename Service>
  using Whole = absl::Status (Service::*)(Call* call);

  // `service`, which has to outlive the table, answers "/SERVICE_NAME/METHOD_NAME" from then on. A request above `bytes_max` is
  // RESOURCE_EXHAUSTED.
  template <typename Service, typename Request, typename Response>
  void Add(std::string_view service_name, std::string_view method_name, Service* service, Unary<Service, Request, Response> method,
           size_t bytes_max = kAnyBytes);
  template <typename Service, typename Request, typename Response>
  void Add(std::string_view service_name, std::string_view method_name, Service* service, Watching<Service, Request, Response> method);
  template <typename Service, typename Request>
  void Add(std::string_view service_name, std::string_view method_name, Service* service, Sending<Service, Request> method);
  template <typename Service, typename Request, typename Response>
  void Add(std::string_view service_name, std::string_view method_name, Service* service, Streaming<Service, Request, Response> method);
  template <typename Service>
  void Add(std::string_view service_name, std::string_view method_name, Service* service, Whole<Service> method);

  const Method* Find(std::string_view path) const override;

  // Sorted.
  std::vector<std::string> Paths() const;
  // Those with a method here, sorted.
  std::vector<std::string> ServiceNames() const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void AddMethod(std::string_view service_name, std::string_view method_name, Method method);
  // `answer`: from a Request and the call to a Response.
  template <typename Request, typename Response, typename Answer>
  void AddAnswering(std::string_view service_name, std::string_view method_name, size_t bytes_max, Answer answer);

  std::unordered_map<std::string, Method, Hash, std::equal_to<>> methods_;  // by path
};

// ---- what a Method is made of ----

// Parts (request_parts.h) of one request. As many changes as a request may make are fewer, however they are written.
inline constexpr size_t kPartsMax = 1'500'000;

// The messages of one call, which go together. Most need no memory but this.
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

// A request from its bytes; `call` is charged for what it is made of. RESOURCE_EXHAUSTED where that is too much.
absl::Status ParseRequest(const std::string& message, Call* call, google::protobuf::Message* request);
// The charge alone.
absl::Status ChargeParts(std::string_view message, const google::protobuf::Descriptor& type, Call* call);
// The request of a call that has one, of at most `bytes_max`.
absl::Status ReceiveRequest(Call* call, size_t bytes_max, google::protobuf::Message* request);
// The same as it came, for a method that reads it itself; and what it answers if it is none.
absl::Status ReceiveBytes(Call* call, std::string* message);
absl::Status NoRequest(size_t byte_count, std::string_view type_name);
// The response of a call that has one.
absl::Status SendResponse(const google::protobuf::MessageLite& response, Call* call);
// Of a call whose client takes no more answers: nobody reads it, but it is counted.
absl::Status ClientGone();

template <typename Service, typename Request, typename Response>
void MethodTable::Add(std::string_view service_name, std::string_view method_name, Service* service,
                      Unary<Service, Request, Response> method, size_t bytes_max) {
  AddAnswering<Request, Response>(
      service_name, method_name, bytes_max,
      [service, method](const Request& request, Call*, Response* response) { return (service->*method)(request, response); });
}

template <typename Service, typename Request, typename Response>
void MethodTable::Add(std::string_view service_name, std::string_view method_name, Service* service,
                      Watching<Service, Request, Response> method) {
  AddAnswering<Request, Response>(
      service_name, method_name, kAnyBytes,
      [service, method](const Request& request, Call* call, Response* response) { return (service->*method)(request, call, response); });
}

template <typename Request, typename Response, typename Answer>
void MethodTable::AddAnswering(std::string_view service_name, std::string_view method_name, size_t bytes_max, Answer answer) {
  AddMethod(service_name, method_name, [answer, bytes_max](Call* call) -> absl::Status {
    CallArena arena;
    auto* const request = google::protobuf::Arena::CreateMessage<Request>(arena.get());
    if (absl::Status received = ReceiveRequest(call, bytes_max, request); !received.ok()) return received;
    auto* const response = google::protobuf::Arena::CreateMessage<Response>(arena.get());
    if (absl::Status answered = answer(*request, call, response); !answered.ok()) return answered;
    return SendResponse(*response, call);
  });
}

template <typename Service, typename Request>
void MethodTable::Add(std::string_view service_name, std::string_view method_name, Service* service, Sending<Service, Request> method) {
  AddMethod(service_name, method_name, [service, method](Call* call) -> absl::Status {
    CallArena arena;
    auto* const request = google::protobuf::Arena::CreateMessage<Request>(arena.get());
    if (absl::Status received = ReceiveRequest(call, kAnyBytes, request); !received.ok()) return received;
    return (service->*method)(*request, call);
  });
}

template <typename Service, typename Request, typename Response>
void MethodTable::Add(std::string_view service_name, std::string_view method_name, Service* service,
                      Streaming<Service, Request, Response> method) {
  AddMethod(service_name, method_name, [service, method](Call* call) -> absl::Status {
    CallArena arena;
    auto* const request = google::protobuf::Arena::CreateMessage<Request>(arena.get());
    if (absl::Status received = ReceiveRequest(call, kAnyBytes, request); !received.ok()) return received;
    MessageWriter<Response> writer(call);
    return (service->*method)(*request, call, &writer);
  });
}

template <typename Service>
void MethodTable::Add(std::string_view service_name, std::string_view method_name, Service* service, Whole<Service> method) {
  AddMethod(service_name, method_name, [service, method](Call* call) { return (service->*method)(call); });
}

}  // namespace stele::server
