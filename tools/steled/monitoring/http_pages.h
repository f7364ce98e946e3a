// steled/monitoring/http_pages.h: serves pages for monitoring, over HTTP/1 without TLS.
//
// GET and HEAD of a page's path return the result of its function. Other paths return 404, other
// methods 405. Each connection has one request.
//
// A probe is answered whatever other clients do:
// - One thread reads and sends the bytes of all connections, and never waits for one client.
// - Another thread makes the probes, one after the other. They wait for no other page.
// - A connection above the limit ends the oldest one that waits for no probe and has no response,
//   also if that one waits for another page.
//
// Bounds:    `connections_max` connections, and `unsent_bytes_max` of responses that clients do not
//            read; above these the oldest are closed.
//
// Errors:    those of ListeningSocket. A connection that finds no memory, or whose page throws, is
//            closed.
// Threads:   kThreads threads call the functions of pages, and one thread those of probes. The
//            functions must be thread-safe.
#pragma once

#include <array>
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
    // Returned only if the header Host has an IP address, a name without a dot, or the host of
    // `listen`, or is missing. Otherwise the response is 421: a site whose name leads to this
    // address (DNS rebinding) must not read the page in the browser of a user.
    bool needs_known_host = false;
  };
  using Pages = std::map<std::string, std::function<Page()>, std::less<>>;  // by path

  struct Limits {
    size_t connections_max = 1024;
    size_t unsent_bytes_max = size_t{16} << 20;
    HttpExchange::Times times;
  };

  // `listen` is "HOST:PORT"; port 0 selects a free one. `probes` must be fast; `pages` may be slow.
  static absl::StatusOr<std::unique_ptr<HttpPages>> Serve(const std::string& listen, Pages probes,
                                                          Pages pages, Limits limits);
  // Waits for running functions, and closes all connections. Makes no page that waits for a thread.
  ~HttpPages();
  HttpPages(const HttpPages&) = delete;
  HttpPages& operator=(const HttpPages&) = delete;

  // "HOST:PORT", with the actual port.
  const std::string& address() const { return listening_.address(); }
  // Open connections. Thread-safe.
  size_t ConnectionCount();
  // Complete requests for probes that no thread has taken. Thread-safe.
  size_t WaitingProbeCount();

 private:
  struct Connection {
    Connection(int descriptor, HttpExchange::Times times) : exchange(descriptor, times) {}
    HttpExchange exchange;
    bool is_served = false;     // by a thread, which alone may touch it then
    bool awaits_probe = false;  // its request for a probe is complete
  };
  using Connections = std::map<uint64_t, std::unique_ptr<Connection>>;  // oldest first
  // What a connection waits for. Each has an epoll, and threads that take its events.
  enum Epoll : uint8_t { kClients, kProbes, kPages };

  HttpPages(const std::string& listen, ListeningSocket listening, Pages probes, Pages pages,
            Limits limits);

  absl::Status Begin();
  void RunClients();
  void MakePages(Epoll epoll);
  // Needs the lock. Returns false after an error that lasts, such as a lack of descriptors.
  bool AcceptSome();
  // Continues a connection. With `makes_page` its request is complete, and gets its response.
  void Serve(uint64_t id, bool makes_page);
  // These need the lock. `kept` is not closed.
  bool Await(uint64_t id, Connection* connection, HttpExchange::Next next);
  void CloseLate();
  void CloseExcess(uint64_t kept);
  std::string ResponseTo(const HttpExchange& exchange) const;

  const std::string listen_;
  const Pages probes_;
  const Pages pages_;
  const Limits limits_;
  const std::array<int, 3> epolls_;  // by Epoll
  const int stop_;                   // an event descriptor that wakes all threads
  std::mutex mutex_;
  ListeningSocket listening_;  // guarded by mutex_, like the next ones
  Connections connections_;
  uint64_t next_id_;
  bool is_ending_ = false;
  std::chrono::steady_clock::time_point next_look_;
  std::vector<std::jthread> threads_;
};

}  // namespace stele::server
