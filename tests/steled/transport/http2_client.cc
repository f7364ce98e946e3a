#include "steled/transport/http2_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace stele::server {
namespace {

Http2Client& Of(void* user) { return *static_cast<Http2Client*>(user); }

// Returns a negative number if no process listens.
int TryConnectTo(const std::string& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  inet_pton(AF_INET, "127.0.0.1", &where.sin_addr);
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) != 0) {
    close(descriptor);
    return -1;
  }
  const int one = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  return descriptor;
}

int ConnectTo(const std::string& address) {
  const int descriptor = TryConnectTo(address);
  EXPECT_GE(descriptor, 0) << "nobody listens at " << address;
  return descriptor;
}

std::vector<nghttp2_nv> Fields(const Http2Client::Headers& headers) {
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : headers) {
    fields.push_back({reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(),
                      value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  return fields;
}

}  // namespace

std::string Framed(std::string_view message) {
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    framed.push_back(static_cast<char>(message.size() >> shift));
  return framed.append(message);
}

nghttp2_session_callbacks* Http2Client::NewCallbacks() {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes,
         const uint8_t* value, size_t value_bytes, uint8_t, void* user) {
        Of(user)
            .answers_[frame->hd.stream_id]
            .headers[std::string(reinterpret_cast<const char*>(name), name_bytes)] =
            std::string(reinterpret_cast<const char*>(value), value_bytes);
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t bytes, void* user) {
        Of(user).answers_[stream].body.append(reinterpret_cast<const char*>(data), bytes);
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, int32_t stream, uint32_t error, void* user) {
        Of(user).answers_[stream].is_closed = true;
        Of(user).answers_[stream].error = error;
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        constexpr int32_t kAnnouncement = INT32_MAX;  // no stream is excluded yet
        if (frame->hd.type == NGHTTP2_GOAWAY) {
          Http2Client& client = Of(user);
          const bool is_announcement = frame->goaway.last_stream_id == kAnnouncement;
          (is_announcement ? client.is_end_announced_ : client.is_asked_to_stop_) = true;
        }
        return 0;
      });
  return callbacks;
}

Http2Client::Http2Client(const std::string& address, uint32_t window_bytes)
    : Http2Client(ConnectTo(address), window_bytes) {}

std::unique_ptr<Http2Client> Http2Client::TryConnect(const std::string& address) {
  const int descriptor = TryConnectTo(address);
  return descriptor < 0 ? nullptr
                        : std::unique_ptr<Http2Client>(new Http2Client(descriptor, 1 << 20));
}

Http2Client::Http2Client(int descriptor, uint32_t window_bytes) : descriptor_(descriptor) {
  nghttp2_session_callbacks* const callbacks = NewCallbacks();
  nghttp2_session_client_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window_bytes};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1);
}

Http2Client::~Http2Client() {
  nghttp2_session_del(session_);
  Disconnect();
}

void Http2Client::Disconnect() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

void Http2Client::JoinToEnd() const {
  const int yes = 1;
  EXPECT_EQ(setsockopt(descriptor_, IPPROTO_TCP, TCP_CORK, &yes, sizeof(yes)), 0);
}

void Http2Client::EndSending() const { EXPECT_EQ(shutdown(descriptor_, SHUT_WR), 0); }

Http2Client::Headers Http2Client::GrpcHeaders(const std::string& path) {
  return {{":method", "POST"}, {":scheme", "http"}, {":path", path},
          {":authority", "t"}, {"te", "trailers"},  {"content-type", "application/grpc"}};
}

int32_t Http2Client::Begin(const Headers& headers) {
  const std::vector<nghttp2_nv> fields = Fields(headers);
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session* session, int32_t stream, uint8_t* buffer,
                              size_t room, uint32_t* flags, nghttp2_data_source*,
                              void* user) -> ssize_t {
    Outgoing& outgoing = Of(user).outgoing_[stream];
    const size_t bytes = std::min(room, outgoing.bytes.size());
    std::memcpy(buffer, outgoing.bytes.data(), bytes);
    outgoing.bytes.erase(0, bytes);
    if (outgoing.bytes.empty() && outgoing.is_last) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!outgoing.trailers.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const std::vector<nghttp2_nv> fields = Fields(outgoing.trailers);
        nghttp2_submit_trailer(session, stream, fields.data(), fields.size());
      }
    } else if (bytes == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(bytes);
  };
  return nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), &provider,
                                nullptr);
}

void Http2Client::Write(int32_t stream, std::string_view bytes, bool is_last) {
  outgoing_[stream].bytes.append(bytes);
  outgoing_[stream].is_last = is_last;
  nghttp2_session_resume_data(session_, stream);
  SendAll();
}

void Http2Client::WriteTrailers(int32_t stream, const Headers& headers) {
  outgoing_[stream].trailers = headers;
  Write(stream, "", true);
}

void Http2Client::Reset(int32_t stream) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
  SendAll();
}

void Http2Client::Ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  SendAll();
}

void Http2Client::SayGoaway() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
  SendAll();
}

void Http2Client::WidenConnection(int32_t bytes) {
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, bytes);
}

Http2Client::Answer Http2Client::Call(const std::string& path, std::string_view message) {
  const int32_t stream = Begin(GrpcHeaders(path));
  Write(stream, Framed(message), true);
  return Await(stream);
}

bool Http2Client::SendAll() {
  // Sent at once, so that the server receives a small request as a whole.
  std::string frames;
  const uint8_t* data = nullptr;
  for (ssize_t bytes = 0; (bytes = nghttp2_session_mem_send(session_, &data)) > 0;)
    frames.append(reinterpret_cast<const char*>(data), static_cast<size_t>(bytes));
  if (!is_holding_) return SendBytes(frames);
  held_.append(frames);
  return true;
}

bool Http2Client::SendBytes(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void Http2Client::Release() {
  is_holding_ = false;
  SendBytes(std::exchange(held_, {}));
}

bool Http2Client::Until(const std::function<bool()>& done) {
  SendAll();
  std::array<uint8_t, 65536> buffer;
  while (!done()) {
    const ssize_t bytes = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (bytes <= 0 ||
        nghttp2_session_mem_recv(session_, buffer.data(), static_cast<size_t>(bytes)) < 0)
      return false;
    SendAll();
  }
  return true;
}

Http2Client::Answer Http2Client::Await(int32_t stream) {
  Until([&] { return answers_[stream].is_closed; });
  return answers_[stream];
}

void Http2Client::SendRaw(std::string_view bytes) const {
  EXPECT_EQ(send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

}  // namespace stele::server
