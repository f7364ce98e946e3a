// steled/raw_client.h: a TCP connection to a server on this machine, for clients that misbehave.
#pragma once

#include <string>
#include <string_view>

namespace stele::server {

class RawClient {
 public:
  // "HOST:PORT", where HOST is a number: "127.0.0.1" or "[::1]".
  explicit RawClient(const std::string& address);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // Fails the test if the server does not take it.
  void Send(std::string_view bytes) const;
  // Returns all bytes until the server closes the connection or resets it.
  std::string ReadAll() const;
  // True if nothing came from the server, and it has not closed the connection.
  bool IsQuiet() const;

 private:
  int descriptor_ = -1;
};

}  // namespace stele::server
