// steled/transport/sockets/socket.h: the bytes of one connection, plain or encrypted; never waits.
//
// Errors:    kClosed, whatever the reason: a failed connection and an ended one need the same
//            handling.
// Threads:   confined; the connection's lock guards it. ShutDown may be called by any thread that
//            has a reference.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "steled/transport/sockets/tls.h"

using SSL = struct ssl_st;

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

  // Owns `descriptor`, which is non-blocking. With `tls` the socket is encrypted. Returns null if
  // memory is refused; the descriptor is closed then.
  static std::unique_ptr<Socket> New(int descriptor, const TlsContext& tls);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  Result Read(std::span<char> buffer);
  Result Write(std::string_view bytes);
  int descriptor() const { return descriptor_; }
  // Returns why the TLS handshake is not complete; nullopt if it is, if the client has sent nothing
  // of it, or without TLS.
  std::optional<std::string> HandshakeFailure() const;
  // The bytes that the system has taken and the client's system has not received. 0: unknown.
  size_t UndeliveredBytes() const;
  // Ends the sending side; sent bytes can still be read, and so can the client's.
  void EndWriting();
  // Ends the connection in both directions; the descriptor reports it.
  void ShutDown();

 private:
  Socket(int descriptor, SSL* ssl) : descriptor_(descriptor), ssl_(ssl) {}
  void End(int how);
  // The results of functions of the system and of OpenSSL.
  static Result SystemResult(ssize_t moved);
  Result TlsResult(int outcome, size_t bytes);

  const int descriptor_;
  SSL* const ssl_;         // null: plain
  bool is_ended_ = false;  // the client of an encrypted socket was notified
  std::string handshake_error_;
};

// The other side's address: "10.0.0.7:4711", "[::1]:4711"; "unix" of a Unix socket, "unknown" where
// the client is gone already.
std::string PeerName(int descriptor);

}  // namespace stele::server
