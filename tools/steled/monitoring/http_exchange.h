// steled/monitoring/http_exchange.h: one connection of HTTP/1: reads the head of a request, waits
// for Respond, sends the response, and closes.
//
// Bounds:    a head has at most kHeadBytesMax. The body of a request is read and ignored.
// Threads:   confined to one thread at a time.
// Source:    RFC 9112. Obsolete forms of it (HTTP/0.9, folded lines) are not supported.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace stele::server {

class HttpExchange {
 public:
  static constexpr size_t kHeadBytesMax = size_t{16} << 10;

  enum class Next {
    kAwaitBytes,     // from the client
    kAwaitResponse,  // from Respond
    kAwaitRoom,      // for bytes to the client
    kClose,
  };
  // How long a client may take to send the head of its request, and to read the response.
  struct Times {
    std::chrono::milliseconds request{10'000};
    std::chrono::milliseconds response{60'000};
  };

  // Owns `descriptor`, a non-blocking socket.
  HttpExchange(int descriptor, Times times);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  int descriptor() const { return descriptor_; }
  // Reads and sends until it would wait.
  Next Continue();
  // The request. Valid after kAwaitResponse.
  const std::string& method() const { return method_; }
  const std::string& path() const { return path_; }
  const std::string& host() const { return host_; }  // the header, with the port; "": none
  // Sets the whole response, which Continue sends.
  void Respond(std::string response);
  // The time at which the exchange must be closed. While it awaits the response it has none.
  std::chrono::steady_clock::time_point deadline() const { return deadline_; }
  // Returns the bytes of the response that were not sent. 0: there is no response, or it was sent.
  size_t unsent_bytes() const { return response_.size() - sent_bytes_; }

 private:
  enum class State { kReadsHead, kAwaitsResponse, kSends, kDrains };

  Next ReadHead();
  void TakeRequest();
  Next Send();
  Next Drain();

  const int descriptor_;
  const Times times_;
  State state_ = State::kReadsHead;
  std::chrono::steady_clock::time_point deadline_;
  std::string head_;
  std::string method_;
  std::string path_;
  std::string host_;
  std::string response_;
  size_t sent_bytes_ = 0;
};

// Returns a response that closes the connection. `extra` are further header lines, each with its
// end.
std::string HttpResponse(int status, std::string_view type, std::string_view body, bool with_body,
                         std::string_view extra = "");

}  // namespace stele::server
