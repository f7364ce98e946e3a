// steled/http_pages.h: pages for whoever watches the server, over HTTP/1 without TLS.
//
// GET and HEAD of a page's path are answered with what its function returns; another path is 404, another method 405.
//
// Errors:    Unavailable where the address cannot be had.
// Threads:   pages are made by two threads of the HTTP library, so their functions have to be thread-safe.
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

  // `listen`: "HOST:PORT", where port 0 takes a free one.
  static absl::StatusOr<std::unique_ptr<HttpPages>> Serve(const std::string& listen, Pages pages);
  // Waits for requests that run.
  ~HttpPages();
  HttpPages(const HttpPages&) = delete;
  HttpPages& operator=(const HttpPages&) = delete;

  // "HOST:PORT", with the port that was taken.
  const std::string& address() const { return address_; }

 private:
  explicit HttpPages(Pages pages) : pages_(std::move(pages)) {}
  static int OnRequest(mg_connection* connection);
  Page Answer(const std::string& method, const std::string& path) const;

  const Pages pages_;
  mg_context* context_ = nullptr;
  std::string address_;
};

}  // namespace stele::server
