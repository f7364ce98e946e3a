// steled/transport/calls/call.h: the interface that a method uses to receive a call's request and
// send its response.
//
// Used by:   the methods of services, and steled/rpc/method_table.cc. Derived class:
//            steled/transport/http2/http2_connection.h.
// Units:     messages are bytes of protobuf, without gRPC's prefix.
// Threads:   confined to the thread that runs the method, except that the token of stop() may be
//            passed to others.
// Source:    gRPC over HTTP/2.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "steled/transport/calls/call_observer.h"

namespace stele::server {

// Names, in lower case, and values.
using TransportTrailers = std::vector<std::pair<std::string, std::string>>;

// The size of gRPC's prefix of each message: a byte for compression, and the length in four bytes,
// big-endian.
inline constexpr size_t kPrefixBytes = 5;

class Call;

// What a call without a thread waits for.
enum class PauseKind : uint8_t {
  kNone,
  kForRoom,     // until Send would not wait
  kForMessage,  // until Receive would not wait
  kForEvent,    // until the call's Waker was called
};

// The state of a call that waits without a thread.
class PausedCall {
 public:
  virtual ~PausedCall() = default;
  // Continues the call after a pause. Its result is the status of the call. May pause the call
  // again.
  virtual absl::Status Resume(Call* call) = 0;
  // Called when the client has read nothing for a while. Returns resources that Resume can create
  // again, for the caller to destroy; or null. Must be fast. Never called while Resume runs.
  virtual std::shared_ptr<void> Shrink() { return nullptr; }
  // The time when the call is resumed, or a little later, if nothing has ended the pause before. It
  // must end then. Must be fast and constant.
  virtual std::chrono::steady_clock::time_point until() const {
    return std::chrono::steady_clock::time_point::max();
  }
};

class Call {
 public:
  virtual ~Call() = default;

  // For example "/google.bigtable.v2.Bigtable/MutateRow".
  virtual const std::string& path() const = 0;
  // The client's metadata under `name`, which is one of TransportOptions.metadata; empty: none.
  virtual std::string_view metadata(std::string_view name) const = 0;
  // The time when the client stops waiting; nullopt: never.
  virtual std::optional<std::chrono::steady_clock::time_point> deadline() const = 0;
  // Stopped when the client cancelled the call, its connection ended, or the server ends. A method
  // that ends for that reason returns CANCELLED; if the server ends, the client gets UNAVAILABLE.
  virtual std::stop_token stop() const = 0;

  // Reserves a part of the memory for requests until the call has ended. Returns false if there is
  // no room.
  virtual bool Reserve(size_t bytes) = 0;
  // Like Reserve, for what the method holds to send it later. Such memory, and messages that the
  // client has not read, together have a limit for each connection and for all.
  virtual bool ReserveAnswer(size_t bytes) = 0;
  // Releases a part of what ReserveAnswer has reserved.
  virtual void ReleaseAnswer(size_t bytes) = 0;
  // Counts the call as refused and not as run. For a method that does nothing and returns an error
  // because of a limit. A failed Reserve does the same.
  virtual void SetRefused(RefusalCause cause) = 0;
  // Waits for the next message of the request. Returns false if there is none any more.
  virtual bool Receive(std::string* message) = 0;
  // Sends `framed`, which begins with kPrefixBytes that are filled in here. Waits while the client
  // has not read enough of the previous messages. With `is_last` the message is sent together with
  // the status that the method then returns. Returns false if no client listens any more.
  virtual bool Send(std::string framed, bool is_last) = 0;
  // False if Send would wait.
  virtual bool CanSend() const = 0;
  // False if Receive would wait.
  virtual bool CanReceive() const = 0;
  // Pauses the call. The method must then return, and its result is ignored. `continuation` is
  // resumed, possibly on another thread, once the event of `kind` has come or no client waits for
  // the response any more. It is also resumed if no message came for too long; it must end then.
  virtual void Pause(PauseKind kind, std::shared_ptr<PausedCall> continuation) = 0;
  // Returns a function that ends a pause kForEvent. Without a pause it ends the next one at once,
  // so no event is lost. The function is thread-safe, and may take locks of the transport. It must
  // not be called once the transport is destroyed.
  virtual std::function<void()> Waker() = 0;
};

// Returns CANCELLED or DEADLINE_EXCEEDED if no client waits for the response any more, else OK.
inline absl::Status CheckAwaited(const Call& call) {
  if (call.stop().stop_requested()) return absl::CancelledError("The call was given up");
  const auto deadline = call.deadline();
  if (!deadline.has_value() || std::chrono::steady_clock::now() < *deadline)
    return absl::OkStatus();
  return absl::DeadlineExceededError("The call's deadline has passed");
}

}  // namespace stele::server
