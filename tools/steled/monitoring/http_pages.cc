#include "steled/monitoring/http_pages.h"

#include <arpa/inet.h>
#include <netinet/in.h>
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
constexpr uint64_t kNothing = 2;
constexpr uint64_t kFirstConnection = 3;
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

// One thread gets each event. A connection that awaits its response has room, so its event comes at
// once.
uint32_t EventsOf(HttpExchange::Next next) {
  return EPOLLONESHOT | (next == HttpExchange::Next::kAwaitBytes ? EPOLLIN | EPOLLRDHUP : EPOLLOUT);
}

constexpr char kUnknownHost[] =
    "this page shows row keys, so it is not served to other names: open http://ADDRESS:PORT{} with "
    "the IP address of the server, a name without a dot, or the HOST of --metrics\n";

// "name:80" is "name", and "[::1]:80" is "::1"; in lower case.
std::string HostWithoutPort(std::string_view host) {
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.rfind(':'));
  }
  std::string name(host);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

// True for a host that no other site can have: an IP address, the host of --metrics, or a name
// without a dot, which only the own network resolves. Programs that are no browsers may send none.
bool IsKnownHost(std::string_view header, std::string_view listen) {
  const std::string host = HostWithoutPort(header);
  in6_addr address{};  // or an in_addr, which is smaller
  return host.find_first_of(".:") == std::string::npos || host == HostWithoutPort(listen) ||
         inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// Returns the id of the next event; kNothing if the time is over.
uint64_t NextEvent(int epoll, int wait_millis) {
  epoll_event event{};
  return epoll_wait(epoll, &event, 1, wait_millis) == 1 ? event.data.u64 : kNothing;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpPages>> HttpPages::Serve(const std::string& listen, Pages probes,
                                                            Pages pages, Limits limits) {
  STELED_ASSIGN_OR_RETURN(ListeningSocket listening, ListeningSocket::Listen(listen));
  std::unique_ptr<HttpPages> server(
      new HttpPages(listen, std::move(listening), std::move(probes), std::move(pages), limits));
  STELED_RETURN_IF_ERROR(server->Begin());
  return server;
}

HttpPages::HttpPages(const std::string& listen, ListeningSocket listening, Pages probes,
                     Pages pages, Limits limits)
    : listen_(listen),
      probes_(std::move(probes)),
      pages_(std::move(pages)),
      limits_(limits),
      epolls_{epoll_create1(EPOLL_CLOEXEC), epoll_create1(EPOLL_CLOEXEC),
              epoll_create1(EPOLL_CLOEXEC)},
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      listening_(std::move(listening)),
      next_id_(kFirstConnection),
      next_look_(std::chrono::steady_clock::now() + kLookEvery) {}

HttpPages::~HttpPages() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    std::erase_if(connections_, [](const auto& entry) { return !entry.second->is_served; });
  }
  // The counter is never read, so every thread gets the event.
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_, &one, sizeof(one));
  threads_.clear();
  connections_.clear();
  for (const int descriptor : {epolls_[kClients], epolls_[kProbes], epolls_[kPages], stop_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

absl::Status HttpPages::Begin() {
  // Without a descriptor, Watch fails.
  const bool can_stop = std::all_of(epolls_.begin(), epolls_.end(), [this](int epoll) {
    return Watch(epoll, EPOLL_CTL_ADD, stop_, EPOLLIN, kStop);
  });
  if (!can_stop || !Watch(epolls_[kClients], EPOLL_CTL_ADD, listening_.descriptor(),
                          kListeningEvents, kListening)) {
    return MakeStatus(absl::StatusCode::kUnavailable,
                      fmt::format("cannot wait for connections to {}: raise the limit of open "
                                  "files",
                                  address()));
  }
  threads_.emplace_back([this] { RunClients(); });
  threads_.emplace_back([this] { MakePages(kProbes); });
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { MakePages(kPages); });
  return absl::OkStatus();
}

size_t HttpPages::ConnectionCount() {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

size_t HttpPages::WaitingProbeCount() {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(
      std::count_if(connections_.begin(), connections_.end(),
                    [](const auto& entry) { return entry.second->awaits_probe; }));
}

// Also wakes without an event, to close late connections. Nothing here throws.
void HttpPages::RunClients() {
  while (true) {
    const uint64_t id = NextEvent(epolls_[kClients], static_cast<int>(kLookEvery.count()));
    if (id == kStop) return;
    if (id >= kFirstConnection) Serve(id, /*makes_page=*/false);
    const std::lock_guard lock(mutex_);
    const bool is_look = std::chrono::steady_clock::now() >= next_look_;
    if (is_look) CloseLate();
    // An error may have kept clients out, so each check for late connections accepts them, too.
    if ((is_look || id == kListening) && AcceptSome()) {
      Watch(epolls_[kClients], EPOLL_CTL_MOD, listening_.descriptor(), kListeningEvents,
            kListening);
    }
  }
}

void HttpPages::MakePages(Epoll epoll) {
  while (true) {
    const uint64_t id = NextEvent(epolls_[epoll], /*wait_millis=*/-1);
    if (id == kStop) return;
    if (id >= kFirstConnection) Serve(id, /*makes_page=*/true);
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
    if (!Watch(epolls_[kClients], EPOLL_CTL_ADD, descriptor,
               EventsOf(HttpExchange::Next::kAwaitBytes), id)) {
      connections_.erase(id);
    }
  }
  return true;
}

void HttpPages::Serve(uint64_t id, bool makes_page) {
  Connection* connection = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(id);
    if (found == connections_.end() || is_ending_) return;
    connection = found->second.get();
    connection->is_served = true;
    connection->awaits_probe = false;
  }
  HttpExchange::Next next = HttpExchange::Next::kClose;  // if the response finds no memory
  RunRound("a page", [&] {
    HttpExchange& exchange = connection->exchange;
    if (makes_page) exchange.Respond(ResponseTo(exchange));
    next = exchange.Continue();
  });
  const std::lock_guard lock(mutex_);
  connection->is_served = false;
  if (next == HttpExchange::Next::kClose || !Await(id, connection, next)) {
    connections_.erase(id);
    return;
  }
  if (connection->exchange.unsent_bytes() > 0) CloseExcess(id);
}

// A connection that awaits its response stays in the first epoll, too, where it gets no event.
bool HttpPages::Await(uint64_t id, Connection* connection, HttpExchange::Next next) {
  const HttpExchange& exchange = connection->exchange;
  if (next != HttpExchange::Next::kAwaitResponse)
    return Watch(epolls_[kClients], EPOLL_CTL_MOD, exchange.descriptor(), EventsOf(next), id);
  connection->awaits_probe = !pages_.contains(exchange.path());
  return Watch(epolls_[connection->awaits_probe ? kProbes : kPages], EPOLL_CTL_ADD,
               exchange.descriptor(), EventsOf(next), id);
}

void HttpPages::CloseLate() {
  const auto now = std::chrono::steady_clock::now();
  next_look_ = now + kLookEvery;
  std::erase_if(connections_, [now](const auto& entry) {
    return !entry.second->is_served && entry.second->exchange.deadline() <= now;
  });
}

// Above connections_max, closes the oldest connection that has no response and waits for no probe.
// If there is none, closes the oldest with an unread response, and if there is none, the oldest.
// Above unsent_bytes_max, closes the oldest with an unread response.
void HttpPages::CloseExcess(uint64_t kept) {
  const auto unsent_bytes = [this] {
    size_t sum = 0;
    for (const auto& [id, connection] : connections_)
      sum += connection->is_served ? 0 : connection->exchange.unsent_bytes();
    return sum;
  };
  const auto has_response = [](const Connection& it) { return it.exchange.unsent_bytes() > 0; };
  const auto is_less_needed = [&](const Connection& it) {
    return !has_response(it) && !it.awaits_probe;
  };
  const auto is_any = [](const Connection&) { return true; };
  const auto close_oldest = [this, kept](const auto& may_close) {
    const auto oldest =
        std::find_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
          return entry.first != kept && !entry.second->is_served && may_close(*entry.second);
        });
    if (oldest == connections_.end()) return false;
    connections_.erase(oldest);
    return true;
  };
  while (connections_.size() > limits_.connections_max &&
         (close_oldest(is_less_needed) || close_oldest(has_response) || close_oldest(is_any))) {
  }
  while (unsent_bytes() > limits_.unsent_bytes_max && close_oldest(has_response)) {
  }
}

std::string HttpPages::ResponseTo(const HttpExchange& exchange) const {
  const std::string& method = exchange.method();
  const std::string& path = exchange.path();
  const bool with_body = method != "HEAD";
  const auto respond = [with_body](const Page& page, std::string_view extra = "") {
    return HttpResponse(page.status, page.type, page.body, with_body, extra);
  };
  std::string paths;
  for (const Pages* const pages : {&probes_, &pages_}) {
    if (const auto found = pages->find(path); found != pages->end()) {
      if (method != "GET" && method != "HEAD")
        return respond({.status = 405, .body = "only GET and HEAD\n"}, "Allow: GET, HEAD\r\n");
      const Page page = found->second();
      if (page.needs_known_host && !IsKnownHost(exchange.host(), listen_))
        return respond({.status = 421, .body = fmt::format(kUnknownHost, path)});
      return respond(page);
    }
    for (const auto& [known, make] : *pages) paths += " " + known;
  }
  return respond({.status = 404, .body = fmt::format("no such page; there are{}\n", paths)});
}

}  // namespace stele::server
