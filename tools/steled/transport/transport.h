// transport/transport.h: gRPC over HTTP/2: listens, reads calls, has them handled by threads of its own, and sends what they answer.
//
// Bounds:    at most calls_max calls at once, each with a thread while it runs; a call beyond them is answered RESOURCE_EXHAUSTED, as is a
//            message above message_bytes_max and one that does not fit into request_memory_bytes beside those of the other calls.
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
  std::vector<std::string> syncing;   // paths of methods whose calls wait for the disk
  int calls_max = 256;
  size_t message_bytes_max = size_t{272} << 20;
  size_t request_memory_bytes = size_t{512} << 20;
  // Who has not said by then that it speaks HTTP/2, and a request that stops in its middle for so long, hold something for nothing.
  std::chrono::milliseconds patience{20'000};
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
