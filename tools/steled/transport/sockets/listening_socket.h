// steled/transport/sockets/listening_socket.h: the socket that clients connect to.
//
// A Unix socket is a file that this process creates, and removes unless another file has taken its
// place. It replaces the file of a killed process. Of two processes that listen on one path at the
// same time, one gets an error: a lock on the file PATH.lock, which exists only meanwhile, keeps
// one from taking the other's socket for that of a killed process.
//
// Errors:    InvalidArgument for an invalid address; Unavailable if the address cannot be used.
// Threads:   confined.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "absl/status/statusor.h"

namespace stele::server {

class ListeningSocket {
 public:
  // `address` is "HOST:PORT" or "[HOST]:PORT", where port 0 selects a free one, or "unix:PATH".
  static absl::StatusOr<ListeningSocket> Listen(const std::string& address);
  ~ListeningSocket();
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;

  int descriptor() const { return descriptor_; }
  // The address given to Listen, with the actual port.
  const std::string& address() const { return address_; }
  // Returns the descriptor of the next client: non-blocking, with TCP_NODELAY and keepalive. -1: no
  // client waits. Without a free descriptor, accepts a client and closes it at once, so that the
  // client gets an error. The system ends a connection if the client acknowledges none of the sent
  // bytes for `user_timeout`.
  int Accept(std::chrono::milliseconds user_timeout);
  // Accepts no more clients.
  void Close();

 private:
  // The file of a Unix socket, as it was made.
  struct SocketFile {
    std::string path;  // "": none
    dev_t device = 0;
    ino_t inode = 0;
  };
  ListeningSocket(int descriptor, std::string address, SocketFile file);
  // Removes the file of a killed process first.
  static absl::StatusOr<ListeningSocket> ListenOnPath(const std::string& address,
                                                      const std::string& path);

  int descriptor_;
  std::string address_;
  SocketFile file_;
  int reserve_;  // closed for a moment when descriptors run out
};

}  // namespace stele::server
