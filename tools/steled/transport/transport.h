// steled/transport/transport.h: gRPC over HTTP/2: listens, receives calls, runs them on its
// threads, and sends their responses.
//
// Bounds:    at most calls_max data calls and kOtherCallsMax others at once, each with a thread
//            while it runs. One connection cannot take them all (calls/call_limits.h). A call above
//            that returns UNAVAILABLE, as does one that does not fit into request_memory_bytes with
//            the others: clients retry these. A message above message_bytes_max is
//            RESOURCE_EXHAUSTED. Paused calls and health checks need no slot.
//
// Errors:    InvalidArgument for an invalid address and for keys that cannot be read; Unavailable
//            if the address cannot be used, or the system refuses threads.
// Threads:   Start and Stop by one thread.
// Source:    gRPC over HTTP/2; RFC 9113.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "steled/transport/calls/call.h"
#include "steled/transport/calls/method.h"
#include "steled/transport/sockets/tls.h"

namespace stele::server {

inline constexpr int kOtherCallsMax = 64;
// The most calls of CallKind::kHealth that get a thread at once.
inline constexpr int kHealthCallsMax = 24;

// The present figures of a transport.
struct TransportFigures {
  size_t connections = 0;
  uint64_t accepted = 0;     // connections since the start, without refused ones
  size_t streams = 0;        // of all connections
  size_t paused_calls = 0;   // that wait without a thread
  size_t request_bytes = 0;  // reserved of request_memory_bytes
};

struct TransportOptions {
  std::string listen;  // "HOST:PORT", where port 0 selects a free one, or "unix:PATH"
  TlsFiles tls;        // without a certificate connections are plain
  std::vector<std::string> metadata;  // names, in lower case, of the metadata that methods use
  TransportTrailers trailers;         // of every response, in addition to its status
  int calls_max = 256;
  size_t connections_max = 4096;
  size_t message_bytes_max = size_t{272} << 20;  // for methods without a lower limit
  size_t request_memory_bytes = size_t{512} << 20;
  // The time limits for a connection to send the HTTP/2 preface, for a request to make progress,
  // and for a PING to be acknowledged.
  std::chrono::milliseconds client_timeout{20'000};
  // A request that is incomplete after this time is ended, whatever its progress.
  std::chrono::milliseconds request_timeout{300'000};
  // A stream whose client reads almost nothing for so long is ended, as is a connection that takes
  // no bytes. So is a call that waits so long for the next message of its request.
  std::chrono::milliseconds stall_timeout{60'000};
  // Replaces `client_timeout` for requests, and `stall_timeout` for streams that hold memory, while
  // little of request_memory_bytes is left. No effect if it is longer than these.
  std::chrono::milliseconds scarce_memory_timeout{1'000};
  // A client that is silent for so long gets a PING, and has `client_timeout` to respond.
  std::chrono::milliseconds ping_delay{60'000};
  // The time between two calls of EndStalled by the transport itself.
  std::chrono::milliseconds stall_check_interval{1'000};
  // The time for clients to read GOAWAY, before Stop accepts no more calls.
  std::chrono::milliseconds goaway_timeout{1'000};
  // The time for clients to read the responses of the calls that Stop ended.
  std::chrono::milliseconds final_response_timeout{500};
};

class Transport {
 public:
  // `router` and `observer` must outlive it; `observer` may be null.
  static absl::StatusOr<std::unique_ptr<Transport>> Start(const TransportOptions& options,
                                                          const Router* router,
                                                          CallObserver* observer);
  virtual ~Transport() = default;

  // The address of the options, with the actual port.
  virtual const std::string& address() const = 0;
  // Thread-safe.
  virtual TransportFigures Figures() = 0;
  // New connections use these; open ones keep theirs. After InvalidArgument nothing has changed.
  // Thread-safe.
  virtual absl::Status UseTls(const TlsFiles& tls) = 0;
  // Ends the calls and connections whose clients exceed a time limit of the options. The transport
  // calls it every `stall_check_interval`. Thread-safe.
  virtual void EndStalled() = 0;
  // Announces the end, and serves the calls that are on their way. Then accepts no more calls,
  // gives running ones `grace` to end, stops the others and waits for them, gives clients
  // `final_response_timeout` to read the responses, and closes all connections. Without `grace` it
  // closes them at once. Call it once.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace stele::server
