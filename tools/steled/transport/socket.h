// transport/socket.h: the bytes of one connection, plain or encrypted; never waits.
//
// Errors:    kClosed, whatever the reason: a connection that failed and one that ended are the same to those who serve it.
// Threads:   confined; the connection's lock guards it. ShutDown may be called by any thread that holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "transport/tls.h"

namespace stele::server {

class Socket {
 public:
  enum class State {
    kMoved,   // `bytes` were read or written
    kWait,    // none just now; the descriptor tells when
    kClosed,  // none any more
  };
  struct Result {
    State state = State::kClosed;
    size_t bytes = 0;
    bool is_all = false;  // that there was to read: the descriptor tells when more comes
  };

  virtual ~Socket() = default;
  virtual Result Read(std::span<char> buffer) = 0;
  virtual Result Write(std::string_view bytes) = 0;
  virtual int descriptor() const = 0;
  // What the system has taken and the client's has not. 0: it cannot be told.
  size_t UndeliveredBytes() const;
  // Nothing more is written; what was is still read, as is what the client sends.
  virtual void EndWriting() = 0;
  // Ends the connection both ways; the descriptor tells of it.
  virtual void ShutDown() = 0;
};

// Both own `descriptor`, which does not block.
std::unique_ptr<Socket> NewPlainSocket(int descriptor);
// Null: no memory for it; the descriptor is closed.
std::unique_ptr<Socket> NewTlsSocket(int descriptor, const TlsContext& context);

}  // namespace stele::server
