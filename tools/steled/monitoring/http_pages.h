// steled/monitoring/http_pages.h: serves pages for monitoring, over HTTP/1 without TLS.
//
// GET and HEAD of a page's path return the result of its function. Other paths return 404, other
// methods 405.
//
// Errors:    Unavailable if the address cannot be used.
// Threads:   two threads of the HTTP library call the pages' functions, which must be thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

struct mg_context;
struct mg_connection;

namespace stele::server {

class HttpPages {
 public:
  struct Page {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
  };
  using Pages = std::map<std::string, std::function<Page()>>;  // by path

  // `listen` is "HOST:PORT"; port 0 selects a free one.
  static absl::StatusOr<std::unique_ptr<HttpPages>> Serve(const std::string& listen, Pages pages);
  // Waits for running requests.
  ~HttpPages();
  HttpPages(const HttpPages&) = delete;
  HttpPages& operator=(const HttpPages&) = delete;

  // "HOST:PORT", with the actual port.
  const std::string& address() const { return address_; }

 private:
  explicit HttpPages(Pages pages) : pages_(std::move(pages)) {}
  void Stop();
  static int OnRequest(mg_connection* connection);
  Page Answer(const std::string& method, const std::string& path) const;

  const Pages pages_;
  mg_context* context_ = nullptr;
  std::string address_;
};

}  // namespace stele::server
