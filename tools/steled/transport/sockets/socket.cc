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

// Repeats a system call that a signal interrupts.
template <typename Function>
ssize_t RetryInterrupted(const Function& function) {
  ssize_t result = 0;
  do {
    result = function();
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

std::unique_ptr<Socket> Socket::New(int descriptor, const TlsContext& tls) {
  SSL* const ssl = tls == nullptr ? nullptr : SSL_new(tls.get());
  std::unique_ptr<Socket> socket;
  if (tls == nullptr || (ssl != nullptr && SSL_set_fd(ssl, descriptor) == 1))
    socket.reset(new (std::nothrow) Socket(descriptor, ssl));
  if (socket == nullptr) {
    SSL_free(ssl);
    close(descriptor);
  } else if (ssl != nullptr) {
    SSL_set_accept_state(ssl);
  }
  return socket;
}

Socket::~Socket() {
  SSL_free(ssl_);
  close(descriptor_);
}

Socket::Result Socket::Read(std::span<char> buffer) {
  if (ssl_ != nullptr) {
    size_t bytes = 0;
    ERR_clear_error();
    const int outcome = SSL_read_ex(ssl_, buffer.data(), buffer.size(), &bytes);
    return TlsResult(outcome, bytes);
  }
  const ssize_t bytes =
      RetryInterrupted([&] { return recv(descriptor_, buffer.data(), buffer.size(), 0); });
  if (bytes == 0) return {State::kClosed};
  Result result = SystemResult(bytes);
  result.is_all = result.bytes < buffer.size();
  return result;
}

Socket::Result Socket::Write(std::string_view data) {
  if (ssl_ != nullptr) {
    size_t bytes = 0;
    ERR_clear_error();
    const int outcome = SSL_write_ex(ssl_, data.data(), data.size(), &bytes);
    return TlsResult(outcome, bytes);
  }
  return SystemResult(
      RetryInterrupted([&] { return send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL); }));
}

Socket::Result Socket::SystemResult(ssize_t moved) {
  if (moved >= 0) return {State::kMoved, static_cast<size_t>(moved)};
  return {errno == EAGAIN || errno == EWOULDBLOCK ? State::kWait : State::kClosed};
}

Socket::Result Socket::TlsResult(int outcome, size_t bytes) {
  if (outcome == 1) return {State::kMoved, bytes};
  const int error = SSL_get_error(ssl_, outcome);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return {State::kWait};
  if (SSL_is_init_finished(ssl_) == 0 && handshake_error_.empty()) {
    const char* const reason = ERR_reason_error_string(ERR_peek_error());
    if (reason != nullptr) handshake_error_ = reason;
  }
  return {State::kClosed};
}

std::optional<std::string> Socket::HandshakeFailure() const {
  // A probe that connects and sends nothing has not failed.
  if (ssl_ == nullptr || SSL_is_init_finished(ssl_) != 0 ||
      BIO_number_read(SSL_get_rbio(ssl_)) == 0)
    return std::nullopt;
  return handshake_error_.empty() ? "the client did not finish it" : handshake_error_;
}

void Socket::EndWriting() { End(SHUT_WR); }
void Socket::ShutDown() { End(SHUT_RDWR); }

void Socket::End(int how) {
  if (ssl_ != nullptr && !std::exchange(is_ended_, true) && SSL_is_init_finished(ssl_) != 0)
    SSL_shutdown(ssl_);
  shutdown(descriptor_, how);
}

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

}  // namespace stele::server
