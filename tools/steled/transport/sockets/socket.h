// steled/transport/sockets/socket.h: the bytes of one connection, plain or encrypted; never waits.
//
// Errors:    kClosed, whatever the reason: a failed connection and an ended one need the same
//            handling.
// Threads:   confined; the connection's lock guards it. ShutDown may be called by any thread that
//            has a reference.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "steled/transport/sockets/tls.h"

namespace stele::server {

class Socket {
 public:
  enum class State {
    kMoved,   // `bytes` were read or written
    kWait,    // none just now; the descriptor reports more
    kClosed,  // none any more
  };
  struct Result {
    State state = State::kClosed;
    size_t bytes = 0;
    bool is_all = false;  // everything available: the descriptor reports when more arrives
  };

  virtual ~Socket() = default;
  virtual Result Read(std::span<char> buffer) = 0;
  virtual Result Write(std::string_view bytes) = 0;
  virtual int descriptor() const = 0;
  // Returns why the TLS handshake is not complete; nullopt if it is, if the client has sent nothing
  // of it, or without TLS.
  virtual std::optional<std::string> HandshakeFailure() const { return std::nullopt; }
  // The bytes that the system has taken and the client's system has not received. 0: unknown.
  size_t UndeliveredBytes() const;
  // Ends the sending side; sent bytes can still be read, and so can the client's.
  virtual void EndWriting() = 0;
  // Ends the connection in both directions; the descriptor reports it.
  virtual void ShutDown() = 0;
};

// The other side's address: "10.0.0.7:4711", "[::1]:4711"; "unix" of a Unix socket, "unknown" where
// the client is gone already.
std::string PeerName(int descriptor);

// Both own `descriptor`, which is non-blocking. They return null if memory is refused; the
// descriptor is closed then.
std::unique_ptr<Socket> NewPlainSocket(int descriptor);
std::unique_ptr<Socket> NewTlsSocket(int descriptor, const TlsContext& context);

}  // namespace stele::server
