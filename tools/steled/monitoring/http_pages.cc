#include "steled/monitoring/http_pages.h"

#include <civetweb.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

std::string_view TitleOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

constexpr std::chrono::milliseconds kWakeInterval(10);

// The address of this machine to connect to. "0.0.0.0" and "[::]" mean all of its addresses.
std::string ReachableHost(const std::string& listening_host) {
  if (listening_host == "0.0.0.0") return "127.0.0.1";
  if (listening_host == "[::]") return "::1";
  const bool has_brackets = listening_host.starts_with('[') && listening_host.ends_with(']');
  return has_brackets ? listening_host.substr(1, listening_host.size() - 2) : listening_host;
}

// Ignores the library's messages, which are about single clients.
int IgnoreMessage(const mg_connection* /*connection*/, const char* /*message*/) { return 1; }

}  // namespace

absl::StatusOr<std::unique_ptr<HttpPages>> HttpPages::Serve(const std::string& listen,
                                                            Pages pages) {
  std::unique_ptr<HttpPages> server(new HttpPages(std::move(pages)));
  mg_callbacks callbacks{};
  callbacks.begin_request = &HttpPages::OnRequest;
  callbacks.log_message = &IgnoreMessage;
  const char* options[] = {
      "listening_ports", listen.c_str(),      "num_threads", "8",    "request_timeout_ms",
      "10000",           "linger_timeout_ms", "1000",        nullptr};
  mg_init_library(0);
  server->context_ = mg_start(&callbacks, server.get(), options);
  mg_server_port port{};
  if (server->context_ == nullptr || mg_get_server_ports(server->context_, 1, &port) < 1) {
    return MakeStatus(absl::StatusCode::kUnavailable,
                      fmt::format("cannot listen on {}: is the port taken?", listen));
  }
  server->address_ = fmt::format("{}:{}", listen.substr(0, listen.rfind(':')), port.port);
  return server;
}

HttpPages::~HttpPages() {
  if (context_ != nullptr) Stop();
  mg_exit_library();
}

// The library's listening thread checks for the end when a client connects, and otherwise every two
// seconds. So this connects until the thread has ended.
void HttpPages::Stop() {
  const std::string host = ReachableHost(address_.substr(0, address_.rfind(':')));
  const int port = std::stoi(address_.substr(address_.rfind(':') + 1));
  const std::jthread waker([&host, port](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      std::array<char, 256> error{};
      if (mg_connection* const client =
              mg_connect_client(host.c_str(), port, /*use_ssl=*/0, error.data(), error.size());
          client != nullptr)
        mg_close_connection(client);
      stopped.wait_for(lock, stop, kWakeInterval, [] { return false; });
    }
  });
  mg_stop(context_);
}

HttpPages::Page HttpPages::Answer(const std::string& method, const std::string& path) const {
  const auto page = pages_.find(path);
  if (page == pages_.end()) {
    std::string paths;
    for (const auto& [known, make] : pages_) paths += " " + known;
    return {.status = 404, .body = fmt::format("no such page; there are{}\n", paths)};
  }
  if (method != "GET" && method != "HEAD") return {.status = 405, .body = "only GET and HEAD\n"};
  return page->second();
}

int HttpPages::OnRequest(mg_connection* connection) {
  const mg_request_info& request = *mg_get_request_info(connection);
  const auto& server = *static_cast<const HttpPages*>(request.user_data);
  const std::string method = request.request_method;
  const Page page = server.Answer(method, request.local_uri == nullptr ? "" : request.local_uri);
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
      page.status, TitleOf(page.status), page.type, page.body.size());
  if (page.status == 405) text += "Allow: GET, HEAD\r\n";
  text += "\r\n";
  if (method != "HEAD") text += page.body;
  mg_write(connection, text.data(), text.size());
  return page.status;  // handled
}

}  // namespace stele::server
