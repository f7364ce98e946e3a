// steled/monitoring/http_pages.h: serves pages for monitoring, over HTTP/1 without TLS.
//
// GET and HEAD of a page's path return the result of its function. Other paths return 404, other
// methods 405. Each connection has one request.
//
// A probe is answered whatever other clients do: a connection that waits for its client takes no
// thread, and one that is too many ends the oldest of those that have no request.
//
// Bounds:    `connections_max` connections, and `unsent_bytes_max` of responses that clients do not
//            read; above these the oldest are closed.
//
// Errors:    those of ListeningSocket. A connection that finds no memory, or whose page throws, is
//            closed.
// Threads:   kThreads threads call the pages' functions, which must be thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "steled/monitoring/http_exchange.h"
#include "steled/transport/sockets/listening_socket.h"

namespace stele::server {

class HttpPages {
 public:
  static constexpr int kThreads = 8;

  struct Page {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
  };
  using Pages = std::map<std::string, std::function<Page()>, std::less<>>;  // by path

  struct Limits {
    size_t connections_max = 1024;
    size_t unsent_bytes_max = size_t{16} << 20;
    HttpExchange::Times times;
  };

  // `listen` is "HOST:PORT"; port 0 selects a free one.
  static absl::StatusOr<std::unique_ptr<HttpPages>> Serve(const std::string& listen, Pages pages,
                                                          Limits limits);
  // Waits for running functions, and closes all connections.
  ~HttpPages();
  HttpPages(const HttpPages&) = delete;
  HttpPages& operator=(const HttpPages&) = delete;

  // "HOST:PORT", with the actual port.
  const std::string& address() const { return listening_.address(); }
  // Open connections. Thread-safe.
  size_t ConnectionCount();

 private:
  struct Connection {
    Connection(int descriptor, HttpExchange::Times times) : exchange(descriptor, times) {}
    HttpExchange exchange;
    bool is_served = false;  // by a thread, which alone may touch it then
  };
  using Connections = std::map<uint64_t, std::unique_ptr<Connection>>;  // oldest first

  HttpPages(ListeningSocket listening, Pages pages, Limits limits);

  absl::Status Begin();
  void Run(bool looks);
  // Needs the lock. Returns false after an error that lasts, such as a lack of descriptors.
  bool AcceptSome();
  void Serve(uint64_t id);
  // These need the lock. `kept` is not closed.
  void CloseLate();
  void CloseExcess(uint64_t kept);
  std::string Respond(std::string_view method, std::string_view path) const;

  const Pages pages_;
  const Limits limits_;
  const int epoll_;
  const int stop_;  // an event descriptor that wakes all threads
  std::mutex mutex_;
  ListeningSocket listening_;  // guarded by mutex_, like the next ones
  Connections connections_;
  uint64_t next_id_;
  std::chrono::steady_clock::time_point next_look_;
  std::vector<std::jthread> threads_;
};

}  // namespace stele::server
