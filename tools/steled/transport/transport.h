// transport/transport.h: gRPC over HTTP/2: listens, reads calls, has them handled by threads of its own, and sends what they answer.
//
// Bounds:    at most calls_max calls at once, each with a thread while it runs, and half of them for one connection. A call beyond them
//            is answered UNAVAILABLE, as is one that does not fit into request_memory_bytes beside the others: clients try these again.
//            A message above message_bytes_max is RESOURCE_EXHAUSTED. Calls that are paused, and paths outside of `limited_prefix`, have
//            places of their own.
//
// Errors:    InvalidArgument for what is no address and for keys that cannot be read; Unavailable where the address cannot be had.
// Threads:   Start and Stop by one thread.
// Source:    gRPC over HTTP/2; RFC 9113.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/call.h"

namespace stele::server {

inline constexpr int kOtherCallsMax = 64;

// PEM texts. With a client_ca, clients have to show a certificate that it signed.
struct TlsFiles {
  std::string certificate_chain;
  std::string private_key;
  std::string client_ca;
};

struct TransportOptions {
  std::string listen;                 // "HOST:PORT", where port 0 takes a free one, or "unix:PATH"
  TlsFiles tls;                       // without a certificate connections are plain
  std::vector<std::string> metadata;  // names, in lower case, of what methods ask calls for
  TransportTrailers trailers;         // of every answer, beside its status
  std::vector<std::string> syncing;   // paths of methods whose calls wait for the disk
  // Calls of paths that begin so count against calls_max. The others, as health and administration, have kOtherCallsMax.
  std::string limited_prefix = "/";
  int calls_max = 256;
  size_t connections_max = 4096;
  size_t message_bytes_max = size_t{272} << 20;
  size_t request_memory_bytes = size_t{512} << 20;
  // How long a connection may take to send the HTTP/2 preface, a request may make no progress, and
  // a PING may stay unanswered.
  std::chrono::milliseconds patience{20'000};
  // A request that has not come whole by then is given up, however it goes on.
  std::chrono::milliseconds request_time_max{300'000};
  // A stream of which its client reads next to nothing for so long is ended, as is a connection that takes no bytes.
  std::chrono::milliseconds stall_timeout{60'000};
  // A client that is silent for so long is asked by a PING whether it is there, and has `patience` to answer.
  std::chrono::milliseconds ping_after{60'000};
};

class Transport {
 public:
  // `router` and `observer` have to outlive it; `observer` may be null.
  static absl::StatusOr<std::unique_ptr<Transport>> Start(const TransportOptions& options, const Router* router, CallObserver* observer);
  virtual ~Transport() = default;

  // Of the options, with the port that was taken.
  virtual const std::string& address() const = 0;
  // Connections from now on use these; those that are open keep theirs. InvalidArgument: nothing changed. Thread-safe.
  virtual absl::Status UseTls(const TlsFiles& tls) = 0;
  // Takes no more calls, lets those that run end for `grace`, stops the rest, waits for them, leaves clients a moment to read what they
  // answered, and closes all connections. Once.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace stele::server
