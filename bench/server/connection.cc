#include "connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "base/status.h"
#include "message.h"

namespace stele_load {
namespace {

constexpr time_t kWaitSecondsMax = 60;
constexpr int32_t kWindowBytes = std::numeric_limits<int32_t>::max();  // the maximum of HTTP/2
// As much as a server has ready while it streams.
constexpr size_t kReceiveBytes = size_t{256} << 10;

// One buffer for all connections of a thread: sixteen buffers would not fit into the core's cache.
std::span<uint8_t> ReceiveBuffer() {
  thread_local std::vector<uint8_t> buffer(kReceiveBytes);
  return buffer;
}

absl::Status Unavailable(std::string_view text) { return stele::internal::Unavailable("{}", text); }
absl::Status Internal(std::string_view text) {
  return absl::InternalError(stele::internal::ToAbsl(text));
}

// Returns whether there is nothing to read, or no room to write.
bool IsFull(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Makes a status from a failed system call. The code says whether it failed because nothing moved.
absl::Status ErrorOf(std::string_view call, int error) {
  if (IsFull(error) || error == EINPROGRESS) {
    return stele::internal::DeadlineExceeded("{}: nothing moved for {} s", call, kWaitSecondsMax);
  }
  return stele::internal::Unavailable("{}: {}", call, std::strerror(error));
}

nghttp2_nv Header(std::string_view name, std::string_view value) {
  // nghttp2 does not write to these pointers.
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

}  // namespace

// The callbacks of nghttp2. Each gets the connection as its last argument. All of them concern the
// one open stream.
struct Connection::Callbacks {
  static int Header(nghttp2_session* /*session*/, const nghttp2_frame* /*frame*/,
                    const uint8_t* name_bytes, size_t name_count, const uint8_t* value_bytes,
                    size_t value_count, uint8_t /*flags*/, void* connection) {
    Exchange& exchange = static_cast<Connection*>(connection)->exchange_;
    const std::string_view name(reinterpret_cast<const char*>(name_bytes), name_count);
    const std::string_view value(reinterpret_cast<const char*>(value_bytes), value_count);
    if (name == ":status") exchange.http_status = value;
    if (name == "grpc-status") exchange.grpc_status = value;
    if (name == "grpc-message") exchange.grpc_message = value;
    return 0;
  }

  static int Data(nghttp2_session* /*session*/, uint8_t /*flags*/, int32_t /*stream_id*/,
                  const uint8_t* bytes, size_t count, void* connection) {
    static_cast<Connection*>(connection)
        ->exchange_.answer->append(reinterpret_cast<const char*>(bytes), count);
    return 0;
  }

  static int StreamClose(nghttp2_session* /*session*/, int32_t /*stream_id*/, uint32_t error_code,
                         void* connection) {
    Exchange& exchange = static_cast<Connection*>(connection)->exchange_;
    exchange.reset_code = error_code;
    exchange.is_closed = true;
    return 0;
  }

  static int Frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* connection) {
    auto* const self = static_cast<Connection*>(connection);
    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0)
      self->is_ready_ = true;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      const std::string_view why(reinterpret_cast<const char*>(frame->goaway.opaque_data),
                                 frame->goaway.opaque_data_len);
      self->broken_ =
          stele::internal::Unavailable("the server takes no more calls on this connection: {} {}",
                                       nghttp2_http2_strerror(frame->goaway.error_code), why);
    }
    return 0;
  }

  // Fails a request that the session does not send.
  static int NotSent(nghttp2_session* /*session*/, const nghttp2_frame* frame, int error,
                     void* connection) {
    auto* const self = static_cast<Connection*>(connection);
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    self->broken_ =
        stele::internal::Unavailable("the request cannot be sent: {}", nghttp2_strerror(error));
    self->exchange_.is_closed = true;
    return 0;
  }

  static ssize_t Request(nghttp2_session* /*session*/, int32_t /*stream_id*/, uint8_t* buffer,
                         size_t bytes_max, uint32_t* flags, nghttp2_data_source* /*source*/,
                         void* connection) {
    std::string_view& unsent = static_cast<Connection*>(connection)->exchange_.unsent;
    const size_t count = std::min(bytes_max, unsent.size());
    std::memcpy(buffer, unsent.data(), count);
    unsent.remove_prefix(count);
    if (unsent.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
};

Connection::Connection(std::string address) : address_(std::move(address)) {
  absl::Status status = Connect();
  if (status.ok()) status = StartSession();
  while (status.ok() && broken_.ok() && !is_ready_) {
    status = Flush(Wait::kYes);
    if (status.ok()) status = Receive(Wait::kYes);
  }
  if (broken_.ok()) broken_ = status;
}

Connection::~Connection() {
  if (socket_ >= 0) close(socket_);
}

absl::Status Connection::Connect() {
  const size_t colon = address_.rfind(':');
  if (colon == std::string::npos)
    return stele::internal::InvalidArgument("'{}' is not HOST:PORT", address_);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address_.substr(0, colon).c_str(),
                                address_.substr(colon + 1).c_str(), &hints, &found);
  if (error != 0) return stele::internal::Unavailable("{}: {}", address_, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> place(found, &freeaddrinfo);
  socket_ = socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, place->ai_protocol);
  if (socket_ < 0) return ErrorOf("socket", errno);
  const timeval wait = {.tv_sec = kWaitSecondsMax, .tv_usec = 0};
  const int yes = 1;
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(socket_, place->ai_addr, place->ai_addrlen) != 0)
    return ErrorOf("connecting to " + address_, errno);
  return absl::OkStatus();
}

absl::Status Connection::StartSession() {
  nghttp2_session_callbacks* made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) return Internal("no memory for an HTTP/2 session");
  const std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)>
      callbacks(made, &nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_header_callback(made, &Callbacks::Header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, &Callbacks::Data);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, &Callbacks::StreamClose);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, &Callbacks::Frame);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(made, &Callbacks::NotSent);
  nghttp2_session* session = nullptr;
  if (nghttp2_session_client_new(&session, made, this) != 0)
    return Internal("no memory for an HTTP/2 session");
  session_.reset(session);
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, uint32_t{kWindowBytes}}}};
  int error = nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  if (error == 0)
    error = nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindowBytes);
  return error == 0 ? absl::OkStatus() : Internal(nghttp2_strerror(error));
}

absl::Status Connection::Submit(std::string_view path) {
  const std::array<nghttp2_nv, 7> headers = {Header(":method", "POST"),
                                             Header(":scheme", "http"),
                                             Header(":path", path),
                                             Header(":authority", address_),
                                             Header("te", "trailers"),
                                             Header("content-type", "application/grpc"),
                                             Header("user-agent", "stele-load/1")};
  const nghttp2_data_provider body = {.source = {}, .read_callback = &Callbacks::Request};
  if (nghttp2_session_check_request_allowed(session_.get()) == 0)
    return Unavailable("the connection takes no more calls");
  const int32_t stream_id = nghttp2_submit_request(session_.get(), nullptr, headers.data(),
                                                   headers.size(), &body, nullptr);
  return stream_id > 0 ? absl::OkStatus() : Internal(nghttp2_strerror(stream_id));
}

absl::Status Connection::Flush(Wait wait) {
  while (true) {
    if (!HasUnsent()) {
      to_send_.clear();
      sent_bytes_ = 0;
      for (const uint8_t* bytes = nullptr;;) {
        const ssize_t count = nghttp2_session_mem_send(session_.get(), &bytes);
        if (count < 0) return Internal(nghttp2_strerror(static_cast<int>(count)));
        if (count == 0) break;
        to_send_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
      }
      if (to_send_.empty()) return absl::OkStatus();
    }
    const std::string_view left = std::string_view(to_send_).substr(sent_bytes_);
    const ssize_t count = send(socket_, left.data(), left.size(),
                               MSG_NOSIGNAL | (wait == Wait::kNo ? MSG_DONTWAIT : 0));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && wait == Wait::kNo && IsFull(errno)) return absl::OkStatus();
    if (count < 0) return ErrorOf("sending to " + address_, errno);
    sent_bytes_ += static_cast<size_t>(count);
  }
}

absl::Status Connection::Receive(Wait wait) {
  // The session stops reading after a response that violates HTTP/2.
  if (nghttp2_session_want_read(session_.get()) == 0)
    return Internal("what the server sent is not HTTP/2");
  const std::span<uint8_t> buffer = ReceiveBuffer();
  const ssize_t count =
      recv(socket_, buffer.data(), buffer.size(), wait == Wait::kNo ? MSG_DONTWAIT : 0);
  if (count < 0 && (errno == EINTR || (wait == Wait::kNo && IsFull(errno))))
    return absl::OkStatus();
  if (count < 0) return ErrorOf("waiting for " + address_, errno);
  if (count == 0) return Unavailable("the server closed the connection");
  const ssize_t taken =
      nghttp2_session_mem_recv(session_.get(), buffer.data(), static_cast<size_t>(count));
  return taken < 0 ? Internal(nghttp2_strerror(static_cast<int>(taken))) : absl::OkStatus();
}

absl::Status Connection::StatusOfExchange() const {
  if (!exchange_.grpc_status.empty())
    return GrpcStatus(exchange_.grpc_status, exchange_.grpc_message);
  if (exchange_.reset_code != 0) {
    return stele::internal::Unavailable("the stream ended early: {}",
                                        nghttp2_http2_strerror(exchange_.reset_code));
  }
  return Internal(
      fmt::format("an answer without grpc-status, its HTTP status is '{}'", exchange_.http_status));
}

void Connection::Begin(std::string_view path, std::string_view request, std::string* answer) {
  exchange_ = Exchange{.unsent = request, .answer = answer, .failure = broken_, .is_closed = false};
  if (!IsOver()) exchange_.failure = Submit(path);
  if (!IsOver()) exchange_.failure = Flush(Wait::kNo);
}

void Connection::Advance(Wait wait) {
  if (HasUnsent()) exchange_.failure = Flush(wait);
  if (!IsOver()) exchange_.failure = Receive(wait);
  if (!IsOver()) exchange_.failure = Flush(wait);
}

absl::Status Connection::End() {
  const absl::Status& failure = exchange_.failure;
  if (broken_.ok()) broken_ = failure;
  // A server that refuses further calls may still have completed this one.
  const bool is_answered = failure.ok() && (broken_.ok() || !exchange_.grpc_status.empty());
  return is_answered ? StatusOfExchange() : broken_;
}

absl::Status Connection::Call(std::string_view path, std::string_view request,
                              std::string* answer) {
  Begin(path, request, answer);
  while (!IsOver()) Advance(Wait::kYes);
  return End();
}

}  // namespace stele_load
