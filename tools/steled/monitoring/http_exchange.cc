#include "steled/monitoring/http_exchange.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace stele::server {
namespace {

constexpr int kBadRequest = 400;
constexpr int kHeadTooLarge = 431;
constexpr size_t kReadBytes = 4096;
constexpr int kReadsMax = 16;  // before other connections are served

std::string_view TitleOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case kBadRequest:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 421:
      return "Misdirected Request";
    case kHeadTooLarge:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

std::string ErrorResponse(int status, std::string_view text) {
  return HttpResponse(status, "text/plain; charset=utf-8", text, /*with_body=*/true);
}

// Cuts `text` at its first `separator` and returns what was before it.
std::string_view TakeUntil(char separator, std::string_view* text) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view taken = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return taken;
}

// The value of the first header Host; "" if there is none.
std::string_view HostOf(std::string_view headers) {
  constexpr std::string_view kName = "host";
  constexpr std::string_view kSpaces = " \t\r";
  while (!headers.empty()) {
    std::string_view value = TakeUntil('\n', &headers);
    const std::string_view name = TakeUntil(':', &value);
    const bool is_host =
        std::equal(name.begin(), name.end(), kName.begin(), kName.end(),
                   [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
    if (!is_host) continue;
    value.remove_prefix(std::min(value.find_first_not_of(kSpaces), value.size()));
    return value.substr(0, value.find_last_not_of(kSpaces) + 1);
  }
  return "";
}

// The path of a request's target, which a proxy may have sent as a URL.
std::string_view PathOf(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (target.starts_with(kScheme)) {
    target.remove_prefix(kScheme.size());
    target.remove_prefix(std::min(target.find('/'), target.size()));
  }
  return target.substr(0, target.find('?'));
}

bool WouldWait() { return errno == EAGAIN || errno == EWOULDBLOCK; }

ssize_t Receive(int descriptor, std::array<char, kReadBytes>* part) {
  ssize_t bytes = 0;
  do {
    bytes = recv(descriptor, part->data(), part->size(), 0);
  } while (bytes < 0 && errno == EINTR);
  return bytes;
}

}  // namespace

std::string HttpResponse(int status, std::string_view type, std::string_view body, bool with_body,
                         std::string_view extra) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}",
      status, TitleOf(status), type, body.size(), extra, with_body ? body : std::string_view());
}

HttpExchange::HttpExchange(int descriptor, Times times)
    : descriptor_(descriptor),
      times_(times),
      deadline_(std::chrono::steady_clock::now() + times.request) {}

HttpExchange::~HttpExchange() { close(descriptor_); }

HttpExchange::Next HttpExchange::Continue() {
  if (state_ == State::kReadsHead) {
    if (const Next next = ReadHead(); state_ == State::kReadsHead) return next;
  }
  if (state_ == State::kAwaitsResponse) return Next::kAwaitResponse;
  if (state_ == State::kSends) {
    if (const Next next = Send(); state_ == State::kSends) return next;
  }
  return Drain();
}

HttpExchange::Next HttpExchange::ReadHead() {
  std::array<char, kReadBytes> part{};
  while (true) {
    const ssize_t bytes = Receive(descriptor_, &part);
    if (bytes < 0 && WouldWait()) return Next::kAwaitBytes;
    if (bytes <= 0) return Next::kClose;
    // An empty line ends the head. It may have begun with the last bytes of the part before.
    const size_t from = std::max<size_t>(head_.size(), 3) - 3;
    head_.append(part.data(), static_cast<size_t>(bytes));
    if (head_.find("\n\r\n", from) != std::string::npos ||
        head_.find("\n\n", from) != std::string::npos) {
      TakeRequest();
      break;
    }
    if (head_.size() > kHeadBytesMax) {
      Respond(ErrorResponse(kHeadTooLarge,
                            fmt::format("a request's head has at most {} bytes\n", kHeadBytesMax)));
      break;
    }
  }
  head_ = std::string();  // releases its memory
  return Next::kAwaitResponse;
}

void HttpExchange::TakeRequest() {
  std::string_view head = head_;
  std::string_view line = TakeUntil('\n', &head);
  if (line.ends_with('\r')) line.remove_suffix(1);
  method_ = TakeUntil(' ', &line);
  const std::string_view target = TakeUntil(' ', &line);
  if (method_.empty() || target.empty() || (line != "HTTP/1.1" && line != "HTTP/1.0")) {
    return Respond(ErrorResponse(kBadRequest, "only HTTP/1.1 and HTTP/1.0 are served here\n"));
  }
  path_ = PathOf(target);
  host_ = HostOf(head);
  state_ = State::kAwaitsResponse;
  deadline_ = std::chrono::steady_clock::time_point::max();
}

void HttpExchange::Respond(std::string response) {
  response_ = std::move(response);
  state_ = State::kSends;
  deadline_ = std::chrono::steady_clock::now() + times_.response;
}

HttpExchange::Next HttpExchange::Send() {
  while (unsent_bytes() > 0) {
    const ssize_t bytes =
        send(descriptor_, response_.data() + sent_bytes_, unsent_bytes(), MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return WouldWait() ? Next::kAwaitRoom : Next::kClose;
    sent_bytes_ += static_cast<size_t>(bytes);
  }
  response_ = std::string();
  sent_bytes_ = 0;
  state_ = State::kDrains;
  shutdown(descriptor_, SHUT_WR);
  return Next::kAwaitBytes;
}

// Waits for the client's end. A close while unread bytes are there would reset the connection, and
// the client might lose the response.
HttpExchange::Next HttpExchange::Drain() {
  std::array<char, kReadBytes> part{};
  for (int i = 0; i < kReadsMax; ++i) {
    const ssize_t bytes = Receive(descriptor_, &part);
    if (bytes < 0 && WouldWait()) return Next::kAwaitBytes;
    if (bytes <= 0) return Next::kClose;
  }
  return Next::kAwaitBytes;
}

}  // namespace stele::server
