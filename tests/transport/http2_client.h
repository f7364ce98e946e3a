// transport/http2_client.h: a client that can do what no gRPC client does: half a request, bytes that are no HTTP/2, answers left unread.
//
// Threads:   confined.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stele::server {

// A message as gRPC frames it.
std::string Framed(std::string_view message);

class Http2Client {
 public:
  struct Answer {
    std::map<std::string, std::string> headers;  // and trailers
    std::string body;
    bool is_closed = false;
    uint32_t error = 0;  // of the stream, HTTP/2's

    std::string Status() const { return headers.contains("grpc-status") ? headers.at("grpc-status") : "none"; }
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // `window_bytes`: what the server may send of a stream before it was read.
  explicit Http2Client(const std::string& address, uint32_t window_bytes = 1 << 20);
  // Null: nobody listens there.
  static std::unique_ptr<Http2Client> TryConnect(const std::string& address);
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  static Headers GrpcHeaders(const std::string& path);

  // A new stream, and its id; its data follow by Write.
  int32_t Begin(const Headers& headers);
  void Write(int32_t stream, std::string_view bytes, bool is_last);
  // What is written from now on is kept, and goes all at once with the next Release.
  void Hold() { is_holding_ = true; }
  void Release();
  // After what was written; nothing follows.
  void WriteTrailers(int32_t stream, const Headers& headers);
  void Reset(int32_t stream);
  void Ping();
  // No more calls; what was asked for is still read.
  void SayGoaway();
  // All at once, and the answer.
  Answer Call(const std::string& path, std::string_view message);

  // Sends what there is, and reads until it is so or the connection ends. False: it ended.
  bool Until(const std::function<bool()>& done);
  Answer Await(int32_t stream);
  const Answer& answer(int32_t stream) { return answers_[stream]; }
  bool is_told_to_go() const { return is_told_to_go_; }

  // The server may send this much of all streams before it was read.
  void WidenConnection(int32_t bytes);
  // Bytes past HTTP/2's rules. False: the connection has ended.
  bool TrySendRaw(std::string_view bytes) const { return SendBytes(bytes); }
  void SendRaw(std::string_view bytes) const;
  void Disconnect();
  // What is sent from now on goes together with the end.
  void JoinToEnd() const;
  // The server's bytes can still be read.
  void EndSending() const;

 private:
  Http2Client(int descriptor, uint32_t window_bytes);

  struct Outgoing {
    std::string bytes;
    bool is_last = false;
    Headers trailers = {};
  };

  bool SendAll();
  bool SendBytes(std::string_view bytes) const;
  nghttp2_session_callbacks* NewCallbacks();

  int descriptor_ = -1;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Answer> answers_;
  std::map<int32_t, Outgoing> outgoing_;
  bool is_told_to_go_ = false;
  bool is_holding_ = false;
  std::string held_;
};

}  // namespace stele::server
