#include "steled/transport/sockets/socket.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <utility>

namespace stele::server {
namespace {

class PlainSocket final : public Socket {
 public:
  explicit PlainSocket(int descriptor) : descriptor_(descriptor) {}
  ~PlainSocket() override { close(descriptor_); }

  Result Read(std::span<char> buffer) override {
    ssize_t bytes = 0;
    do {
      bytes = recv(descriptor_, buffer.data(), buffer.size(), 0);
    } while (bytes < 0 && errno == EINTR);
    if (bytes > 0)
      return {State::kMoved, static_cast<size_t>(bytes),
              static_cast<size_t>(bytes) < buffer.size()};
    return {bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? State::kWait : State::kClosed};
  }

  Result Write(std::string_view bytes) override {
    ssize_t written = 0;
    do {
      written = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    } while (written < 0 && errno == EINTR);
    if (written >= 0) return {State::kMoved, static_cast<size_t>(written)};
    return {errno == EAGAIN || errno == EWOULDBLOCK ? State::kWait : State::kClosed};
  }

  int descriptor() const override { return descriptor_; }
  void EndWriting() override { shutdown(descriptor_, SHUT_WR); }
  void ShutDown() override { shutdown(descriptor_, SHUT_RDWR); }

 private:
  const int descriptor_;
};

class TlsSocket final : public Socket {
 public:
  TlsSocket(int descriptor, SSL* ssl) : descriptor_(descriptor), ssl_(ssl) {}
  ~TlsSocket() override {
    SSL_free(ssl_);
    close(descriptor_);
  }

  Result Read(std::span<char> buffer) override {
    size_t bytes = 0;
    ERR_clear_error();
    const int outcome = SSL_read_ex(ssl_, buffer.data(), buffer.size(), &bytes);
    return ResultOf(outcome, bytes);
  }

  Result Write(std::string_view data) override {
    size_t bytes = 0;
    ERR_clear_error();
    const int outcome = SSL_write_ex(ssl_, data.data(), data.size(), &bytes);
    return ResultOf(outcome, bytes);
  }

  int descriptor() const override { return descriptor_; }

  void EndWriting() override { End(SHUT_WR); }
  void ShutDown() override { End(SHUT_RDWR); }

  std::optional<std::string> HandshakeFailure() const override {
    // A probe that connects and sends nothing has not failed.
    if (SSL_is_init_finished(ssl_) != 0 || BIO_number_read(SSL_get_rbio(ssl_)) == 0)
      return std::nullopt;
    return handshake_error_.empty() ? "the client did not finish it" : handshake_error_;
  }

 private:
  void End(int how) {
    if (!std::exchange(is_ended_, true) && SSL_is_init_finished(ssl_) != 0) SSL_shutdown(ssl_);
    shutdown(descriptor_, how);
  }

  Result ResultOf(int outcome, size_t bytes) {
    if (outcome == 1) return {State::kMoved, bytes};
    const int error = SSL_get_error(ssl_, outcome);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return {State::kWait};
    if (SSL_is_init_finished(ssl_) == 0 && handshake_error_.empty()) {
      const char* const reason = ERR_reason_error_string(ERR_peek_error());
      if (reason != nullptr) handshake_error_ = reason;
    }
    return {State::kClosed};
  }

  const int descriptor_;
  SSL* const ssl_;
  bool is_ended_ = false;  // the client was notified
  std::string handshake_error_;
};

}  // namespace

size_t Socket::UndeliveredBytes() const {
  int bytes = 0;
  return ioctl(descriptor(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

std::string PeerName(int descriptor) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (getpeername(descriptor, generic, &bytes) != 0) return "unknown";
  if (address.ss_family == AF_UNIX) return "unix";
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(generic, bytes, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "unknown";
  return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                       : fmt::format("{}:{}", host.data(), port.data());
}

std::unique_ptr<Socket> NewPlainSocket(int descriptor) {
  std::unique_ptr<Socket> socket(new (std::nothrow) PlainSocket(descriptor));
  if (socket == nullptr) close(descriptor);
  return socket;
}

std::unique_ptr<Socket> NewTlsSocket(int descriptor, const TlsContext& context) {
  SSL* const ssl = SSL_new(context.get());
  std::unique_ptr<Socket> socket;
  if (ssl != nullptr && SSL_set_fd(ssl, descriptor) == 1)
    socket.reset(new (std::nothrow) TlsSocket(descriptor, ssl));
  if (socket == nullptr) {
    SSL_free(ssl);
    close(descriptor);
    return nullptr;
  }
  SSL_set_accept_state(ssl);
  return socket;
}

}  // namespace stele::server
