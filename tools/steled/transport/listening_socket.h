// transport/listening_socket.h: where clients connect to.
//
// Errors:    InvalidArgument for what is no "HOST:PORT"; Unavailable where the address cannot be had.
// Threads:   confined, but for Accept, which is thread-safe.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace stele::server {

class ListeningSocket {
 public:
  // `address`: "HOST:PORT", "[HOST]:PORT"; port 0: any.
  static absl::StatusOr<ListeningSocket> Listen(const std::string& address);
  ~ListeningSocket();
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;

  int descriptor() const { return descriptor_; }
  int port() const { return port_; }
  // The next client's descriptor, which does not block, is not delayed and notices a peer that is gone. -1: nobody waits. A client for
  // which there is no descriptor is let in and out again, so that it knows.
  int Accept();
  // Nobody gets in any more.
  void Close();

 private:
  ListeningSocket(int descriptor, int port);

  int descriptor_;
  int port_;
  int reserve_;  // given up for a moment when descriptors run out
};

}  // namespace stele::server
