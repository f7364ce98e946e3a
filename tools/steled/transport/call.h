// transport/call.h: one call, as the method that serves it sees it.
//
// Path:      http2_connection -> the router's Method -> a service.
// Units:     messages are bytes of protobuf, without gRPC's prefix.
// Threads:   confined to the thread that runs the method, but for stop(), whose token may be given away.
// Source:    gRPC over HTTP/2.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace stele::server {

// Names, in lower case, and values.
using TransportTrailers = std::vector<std::pair<std::string, std::string>>;

// What gRPC puts before each message: a byte that tells of compression, and the length in four more, the highest first.
inline constexpr size_t kPrefixBytes = 5;

class Call;

// What is left of a call that waits for its client to read.
class PausedCall {
 public:
  virtual ~PausedCall() = default;
  // Goes on in the method's place, as the method would; may pause the call again.
  virtual absl::Status Resume(Call* call) = 0;
  // Called when the client has read nothing for a while. Returns resources that Resume can create
  // again, for the caller to destroy; or null. Must be fast. Never called while Resume runs.
  virtual std::shared_ptr<void> Shrink() = 0;
};

class Call {
 public:
  virtual ~Call() = default;

  // "/google.bigtable.v2.Bigtable/MutateRow".
  virtual const std::string& path() const = 0;
  // What the client said under `name`, one of TransportOptions.metadata; empty: nothing.
  virtual std::string_view metadata(std::string_view name) const = 0;
  // When the client stops waiting; none: never.
  virtual std::optional<std::chrono::steady_clock::time_point> deadline() const = 0;
  // Stopped when the client gave the call up, its connection ended, or the server ends. A method that ends for that reason answers
  // CANCELLED; where it is the server's end the client hears UNAVAILABLE.
  virtual std::stop_token stop() const = 0;

  // Takes as much of the memory for requests, until the call has ended. False: there is no room.
  virtual bool Reserve(size_t bytes) = 0;
  // The next message of the request; waits for it. False: there is none any more.
  virtual bool Receive(std::string* message) = 0;
  // More of the request has come than was received. Does not wait.
  virtual bool HasMore() const = 0;
  // Sends `framed`, which begins with kPrefixBytes that are filled in here. Waits while the client leaves unread what was sent before. A
  // message that `is_last` goes together with the status that the method returns then. False: nobody listens any more.
  virtual bool Send(std::string framed, bool is_last) = 0;
  // False: Send would wait.
  virtual bool CanSend() const = 0;
  // The method returns now, and what it returns is not looked at: its thread goes to other calls. Once Send would not wait, or nobody waits
  // for the answer any more, `rest` is resumed, perhaps by another thread.
  virtual void Pause(std::shared_ptr<PausedCall> rest) = 0;
};

// Why nobody waits for the answer any more: CANCELLED or DEADLINE_EXCEEDED. OK: somebody does.
absl::Status CheckAwaited(const Call& call);

// What answers the calls of one path. The status that it returns is the call's, and goes to the client then.
using Method = std::function<absl::Status(Call*)>;

// What happened to calls, for those who count them. Thread-safe, and quick.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnBegin(const std::string& path) = 0;
  // `code`: what the client is told, or would be if it still listened. `received_bytes`, `sent_bytes`: of messages, without their prefixes.
  virtual void OnEnd(const std::string& path, absl::StatusCode code, std::chrono::steady_clock::duration elapsed, size_t received_bytes,
                     size_t sent_bytes) = 0;
  // The call was refused before it began: it took no time.
  virtual void OnRefused(const std::string& path, absl::StatusCode code) = 0;
};

// Who serves a path. Immutable once the server runs.
class Router {
 public:
  virtual ~Router() = default;
  // Null: nobody does, and the call is answered UNIMPLEMENTED.
  virtual const Method* Find(std::string_view path) const = 0;
};

}  // namespace stele::server
