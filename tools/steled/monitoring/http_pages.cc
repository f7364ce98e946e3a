#include "steled/monitoring/http_pages.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "steled/base/errors.h"
#include "steled/rpc/no_exceptions.h"

namespace stele::server {
namespace {

constexpr uint64_t kStop = 0;
constexpr uint64_t kListening = 1;
constexpr uint64_t kFirstConnection = 2;
constexpr std::chrono::milliseconds kLookEvery(1'000);  // for connections that are late
// So many clients are accepted before those that were accepted earlier are served. Otherwise a
// burst of clients could end a connection whose request has come.
constexpr int kAcceptsMax = 16;
constexpr uint32_t kListeningEvents = EPOLLIN | EPOLLONESHOT;

bool Watch(int epoll, int operation, int descriptor, uint32_t events, uint64_t id) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return epoll_ctl(epoll, operation, descriptor, &event) == 0;
}

// One thread gets each event.
uint32_t EventsOf(HttpExchange::Next next) {
  return EPOLLONESHOT | (next == HttpExchange::Next::kAwaitRoom ? EPOLLOUT : EPOLLIN | EPOLLRDHUP);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpPages>> HttpPages::Serve(const std::string& listen, Pages pages,
                                                            Limits limits) {
  STELED_ASSIGN_OR_RETURN(ListeningSocket listening, ListeningSocket::Listen(listen));
  std::unique_ptr<HttpPages> server(new HttpPages(std::move(listening), std::move(pages), limits));
  STELED_RETURN_IF_ERROR(server->Begin());
  return server;
}

HttpPages::HttpPages(ListeningSocket listening, Pages pages, Limits limits)
    : pages_(std::move(pages)),
      limits_(limits),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      listening_(std::move(listening)),
      next_id_(kFirstConnection),
      next_look_(std::chrono::steady_clock::now() + kLookEvery) {}

HttpPages::~HttpPages() {
  // The counter is never read, so every thread gets the event.
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_, &one, sizeof(one));
  threads_.clear();
  connections_.clear();
  if (epoll_ >= 0) close(epoll_);
  if (stop_ >= 0) close(stop_);
}

absl::Status HttpPages::Begin() {
  if (epoll_ < 0 || stop_ < 0 || !Watch(epoll_, EPOLL_CTL_ADD, stop_, EPOLLIN, kStop) ||
      !Watch(epoll_, EPOLL_CTL_ADD, listening_.descriptor(), kListeningEvents, kListening)) {
    return MakeStatus(absl::StatusCode::kUnavailable,
                      fmt::format("cannot wait for connections to {}: raise the limit of open "
                                  "files",
                                  address()));
  }
  for (int i = 0; i < kThreads; ++i)
    threads_.emplace_back([this, is_first = i == 0] { Run(/*looks=*/is_first); });
  return absl::OkStatus();
}

size_t HttpPages::ConnectionCount() {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

// One thread also wakes without an event, to look for late connections. Nothing here throws.
void HttpPages::Run(bool looks) {
  const int wait_millis = looks ? static_cast<int>(kLookEvery.count()) : -1;
  while (true) {
    epoll_event event{};
    const int count = epoll_wait(epoll_, &event, 1, wait_millis);
    const uint64_t id = event.data.u64;
    if (count == 1 && id == kStop) return;
    if (count == 1 && id >= kFirstConnection) Serve(id);
    const std::lock_guard lock(mutex_);
    const bool is_look = std::chrono::steady_clock::now() >= next_look_;
    if (is_look) CloseLate();
    // With each look, too: clients that an error kept out.
    if ((is_look || (count == 1 && id == kListening)) && AcceptSome()) {
      Watch(epoll_, EPOLL_CTL_MOD, listening_.descriptor(), kListeningEvents, kListening);
    }
  }
}

bool HttpPages::AcceptSome() {
  for (int i = 0; i < kAcceptsMax; ++i) {
    const int descriptor = listening_.Accept(limits_.times.response);
    if (descriptor < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    const uint64_t id = next_id_++;
    bool is_owned = false;  // by the connection, which closes it
    const bool is_kept = RunRound("accepting a client of the pages", [&] {
      auto connection = std::make_unique<Connection>(descriptor, limits_.times);
      is_owned = true;
      connections_.emplace(id, std::move(connection));
    });
    if (!is_owned) close(descriptor);
    if (!is_kept) return true;
    CloseExcess(id);
    if (!Watch(epoll_, EPOLL_CTL_ADD, descriptor, EventsOf(HttpExchange::Next::kAwaitBytes), id))
      connections_.erase(id);
  }
  return true;
}

void HttpPages::Serve(uint64_t id) {
  Connection* connection = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    connection = found->second.get();
    connection->is_served = true;
  }
  HttpExchange::Next next = HttpExchange::Next::kClose;  // if the response finds no memory
  RunRound("a page", [&] {
    next = connection->exchange.Continue(
        [this](std::string_view method, std::string_view path) { return Respond(method, path); });
  });
  const std::lock_guard lock(mutex_);
  connection->is_served = false;
  if (next == HttpExchange::Next::kClose ||
      !Watch(epoll_, EPOLL_CTL_MOD, connection->exchange.descriptor(), EventsOf(next), id)) {
    connections_.erase(id);
    return;
  }
  if (connection->exchange.unsent_bytes() > 0) CloseExcess(id);
}

void HttpPages::CloseLate() {
  const auto now = std::chrono::steady_clock::now();
  next_look_ = now + kLookEvery;
  std::erase_if(connections_, [now](const auto& entry) {
    return !entry.second->is_served && entry.second->exchange.deadline() <= now;
  });
}

// Closes the oldest connections without a response, then the oldest with one.
void HttpPages::CloseExcess(uint64_t kept) {
  const auto unsent_bytes = [this] {
    size_t sum = 0;
    for (const auto& [id, connection] : connections_)
      sum += connection->is_served ? 0 : connection->exchange.unsent_bytes();
    return sum;
  };
  const auto close_oldest = [this, kept](bool with_response) {
    const auto oldest =
        std::find_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
          return entry.first != kept && !entry.second->is_served &&
                 (entry.second->exchange.unsent_bytes() > 0) == with_response;
        });
    if (oldest == connections_.end()) return false;
    connections_.erase(oldest);
    return true;
  };
  while (connections_.size() > limits_.connections_max &&
         (close_oldest(/*with_response=*/false) || close_oldest(/*with_response=*/true))) {
  }
  while (unsent_bytes() > limits_.unsent_bytes_max && close_oldest(/*with_response=*/true)) {
  }
}

std::string HttpPages::Respond(std::string_view method, std::string_view path) const {
  const bool with_body = method != "HEAD";
  const auto respond = [with_body](const Page& page, std::string_view extra = "") {
    return HttpResponse(page.status, page.type, page.body, with_body, extra);
  };
  const auto found = pages_.find(path);
  if (found == pages_.end()) {
    std::string paths;
    for (const auto& [known, make] : pages_) paths += " " + known;
    return respond({.status = 404, .body = fmt::format("no such page; there are{}\n", paths)});
  }
  if (method != "GET" && method != "HEAD")
    return respond({.status = 405, .body = "only GET and HEAD\n"}, "Allow: GET, HEAD\r\n");
  return respond(found->second());
}

}  // namespace stele::server
