// transport/listening_socket.h: where clients connect to.
//
// A Unix socket is a file that this process creates and removes. A file that a killed process left is replaced.
//
// Errors:    InvalidArgument for what is no address; Unavailable where the address cannot be had.
// Threads:   confined, but for Accept, which is thread-safe.
#pragma once

#include <chrono>
#include <string>

#include "absl/status/statusor.h"

namespace stele::server {

class ListeningSocket {
 public:
  // `address`: "HOST:PORT", "[HOST]:PORT", where port 0 takes a free one, or "unix:PATH".
  static absl::StatusOr<ListeningSocket> Listen(const std::string& address);
  ~ListeningSocket();
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;

  int descriptor() const { return descriptor_; }
  // As given to Listen, with the port that was taken.
  const std::string& address() const { return address_; }
  // The next client's descriptor, which does not block, is not delayed and notices a peer that is gone. -1: nobody waits. A client for
  // which there is no descriptor is let in and out again, so that it knows.
  // The system ends its connection if it takes nothing of what was sent for `user_timeout`.
  int Accept(std::chrono::milliseconds user_timeout);
  // Nobody gets in any more.
  void Close();

 private:
  ListeningSocket(int descriptor, std::string address, std::string path);

  int descriptor_;
  std::string address_;
  std::string path_;  // of a Unix socket's file; "": none
  int reserve_;       // given up for a moment when descriptors run out
};

}  // namespace stele::server
