#include "steled/transport/sockets/listening_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<Addresses> Resolve(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return InvalidArgument("{}: not HOST:PORT", address);
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), address.c_str() + colon + 1,
                                &hints, &found);
  if (error != 0) return InvalidArgument("{}: {}", address, gai_strerror(error));
  return Addresses(found, &freeaddrinfo);
}

void SetOption(int descriptor, int level, int option, int value) {
  setsockopt(descriptor, level, option, &value, sizeof(value));
}

// Returns -1 and sets errno on failure. Leaves no file then.
int ListenOn(const sockaddr* address, socklen_t bytes) {
  const int descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  SetOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
  const bool is_bound = bind(descriptor, address, bytes) == 0;
  if (is_bound && listen(descriptor, SOMAXCONN) == 0) return descriptor;
  const int error = errno;
  close(descriptor);
  if (is_bound && address->sa_family == AF_UNIX)
    unlink(reinterpret_cast<const sockaddr_un*>(address)->sun_path);
  errno = error;
  return -1;
}

int PortOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
  const in_port_t port = address.ss_family == AF_INET6
                             ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                             : reinterpret_cast<const sockaddr_in&>(address).sin_port;
  return ntohs(port);
}

// Errors of the accepted connection, after which others may be accepted (accept(2)).
bool IsOfOneClient(int error) {
  constexpr std::array<int, 10> kErrors = {EINTR,       ECONNABORTED, ENETDOWN, EPROTO,
                                           ENOPROTOOPT, EHOSTDOWN,    ENONET,   EHOSTUNREACH,
                                           EOPNOTSUPP,  ENETUNREACH};
  return std::find(kErrors.begin(), kErrors.end(), error) != kErrors.end();
}

// Removes the socket that a killed process left. Other files are kept, and so is a socket on which
// a process listens.
void RemoveStaleSocket(const sockaddr_un& address) {
  struct stat status {};
  if (lstat(address.sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return;
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  const bool is_stale = connect(descriptor, generic, sizeof(address)) != 0 && errno == ECONNREFUSED;
  close(descriptor);
  if (is_stale) unlink(address.sun_path);
}

// The file PATH.lock, locked. Without it, a process could take the socket of another for stale
// between the other's bind and listen. The file is removed at the end if it was created here.
class PathLock {
 public:
  // Waits for another holder, but not forever: it may hang, and signals are not handled yet.
  explicit PathLock(const std::string& path) : path_(path + ".lock") {
    const auto end = std::chrono::steady_clock::now() + kLockTime;
    while (!TryLock() && error_ == EWOULDBLOCK && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(kLockPause);
  }
  ~PathLock() {
    if (descriptor_ >= 0 && is_created_) unlink(path_.c_str());
    Unlock();
  }
  PathLock(const PathLock&) = delete;
  PathLock& operator=(const PathLock&) = delete;

  bool is_held() const { return descriptor_ >= 0; }
  // Why it is not held.
  std::string reason() const {
    return error_ == EWOULDBLOCK ? "another process holds it" : std::strerror(error_);
  }
  const std::string& path() const { return path_; }

 private:
  // On failure, error_ has the reason: EWOULDBLOCK if another process holds the lock.
  bool TryLock() {
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    descriptor_ = open(path_.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
    error_ = errno;
    // Stays true if another process locks it first.
    is_created_ = is_created_ || descriptor_ >= 0;
    if (descriptor_ < 0 && error_ == EEXIST) {
      descriptor_ = open(path_.c_str(), kFlags);
      // After ENOENT, the last owner removed the file meanwhile.
      error_ = descriptor_ < 0 && errno == ENOENT ? EWOULDBLOCK : errno;
    }
    if (descriptor_ < 0) return Fail();
    const bool is_locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    error_ = is_locked ? EWOULDBLOCK : errno;
    return (is_locked && IsCurrent()) || Fail();
  }
  bool Fail() {
    if (error_ == EINTR) error_ = EWOULDBLOCK;
    Unlock();
    return false;
  }
  bool IsCurrent() const {
    struct stat opened {};
    struct stat named {};
    return fstat(descriptor_, &opened) == 0 && lstat(path_.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  }
  void Unlock() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }

  static constexpr std::chrono::seconds kLockTime{5};
  static constexpr std::chrono::milliseconds kLockPause{10};

  const std::string path_;
  int descriptor_ = -1;
  bool is_created_ = false;
  int error_ = 0;
};

absl::Status CannotListen(const std::string& address, std::string_view reason) {
  return Unavailable("cannot listen on {}: {}", address, reason);
}

int Reserve() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

absl::StatusOr<ListeningSocket> ListeningSocket::Listen(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  if (address.starts_with(kUnix)) return ListenOnPath(address, address.substr(kUnix.size()));
  STELED_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(address));
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const int descriptor = ListenOn(at->ai_addr, at->ai_addrlen);
    if (descriptor < 0) continue;
    return ListeningSocket(
        descriptor, fmt::format("{}:{}", address.substr(0, address.rfind(':')), PortOf(descriptor)),
        {});
  }
  return CannotListen(address, fmt::format("{}; is the port taken?", std::strerror(errno)));
}

absl::StatusOr<ListeningSocket> ListeningSocket::ListenOnPath(const std::string& address,
                                                              const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) {
    return InvalidArgument("{}: a socket's path has at most {} bytes", address,
                           sizeof(name.sun_path) - 1);
  }
  path.copy(name.sun_path, path.size());
  const PathLock lock(path);
  if (!lock.is_held())
    return CannotListen(address, fmt::format("the lock {}: {}", lock.path(), lock.reason()));
  RemoveStaleSocket(name);
  const int descriptor = ListenOn(reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  if (descriptor < 0) return CannotListen(address, std::strerror(errno));
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    const std::string reason = std::strerror(errno);
    close(descriptor);
    return CannotListen(address, reason);
  }
  return ListeningSocket(descriptor, address,
                         {.path = path, .device = status.st_dev, .inode = status.st_ino});
}

ListeningSocket::ListeningSocket(int descriptor, std::string address, SocketFile file)
    : descriptor_(descriptor),
      address_(std::move(address)),
      file_(std::move(file)),
      reserve_(Reserve()) {}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      address_(std::move(other.address_)),
      file_(std::exchange(other.file_, SocketFile())),
      reserve_(std::exchange(other.reserve_, -1)) {}

ListeningSocket::~ListeningSocket() {
  Close();
  if (reserve_ >= 0) close(reserve_);
}

void ListeningSocket::Close() {
  if (descriptor_ < 0) return;
  // While this process listens, no other one takes the file for stale and puts its own there. So
  // the file is removed first.
  struct stat status {};
  if (!file_.path.empty() && lstat(file_.path.c_str(), &status) == 0 &&
      status.st_dev == file_.device && status.st_ino == file_.inode)
    unlink(file_.path.c_str());
  close(std::exchange(descriptor_, -1));
}

int ListeningSocket::Accept(std::chrono::milliseconds user_timeout) {
  bool had_no_descriptor = false;
  while (true) {
    if (reserve_ < 0) reserve_ = Reserve();
    const int client = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client >= 0) {
      if (!file_.path.empty()) return client;
      SetOption(client, IPPROTO_TCP, TCP_NODELAY, 1);
      SetOption(client, SOL_SOCKET, SO_KEEPALIVE, 1);
      SetOption(client, IPPROTO_TCP, TCP_KEEPIDLE, 60);
      SetOption(client, IPPROTO_TCP, TCP_KEEPINTVL, 10);
      SetOption(client, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(user_timeout.count()));
      return client;
    }
    if ((errno == EMFILE || errno == ENFILE) && reserve_ >= 0) {
      // accept4 needs a descriptor before it looks for a client. There may be none, or one that
      // came after a descriptor was free again.
      pollfd listening{.fd = descriptor_, .events = POLLIN, .revents = 0};
      if (poll(&listening, 1, 0) != 1) return -1;
      if (!std::exchange(had_no_descriptor, true)) continue;
      close(reserve_);
      const int turned_away = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
      if (turned_away >= 0) close(turned_away);
      reserve_ = Reserve();
      had_no_descriptor = false;
      if (turned_away >= 0) continue;
      return -1;
    }
    if (!IsOfOneClient(errno)) return -1;
  }
}

}  // namespace stele::server
