// steled/transport/http2_client.h: a client that can do what gRPC clients cannot: send half a
// request or bytes that are not HTTP/2, and leave responses unread.
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

// Returns a message with gRPC's prefix.
std::string Framed(std::string_view message);

class Http2Client {
 public:
  struct Answer {
    std::map<std::string, std::string> headers;  // and trailers
    std::string body;
    bool is_closed = false;
    uint32_t error = 0;  // HTTP/2's error code of the stream

    std::string Status() const {
      return headers.contains("grpc-status") ? headers.at("grpc-status") : "none";
    }
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // `window_bytes` is the flow-control window of a stream.
  explicit Http2Client(const std::string& address, uint32_t window_bytes = 1 << 20);
  // Returns null if no process listens there.
  static std::unique_ptr<Http2Client> TryConnect(const std::string& address);
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  static Headers GrpcHeaders(const std::string& path);

  // Begins a stream and returns its id; Write sends its data.
  int32_t Begin(const Headers& headers);
  void Write(int32_t stream, std::string_view bytes, bool is_last);
  // What is written from now on is kept until the next Release sends all of it.
  void Hold() { is_holding_ = true; }
  void Release();
  // Ends the stream after the written bytes.
  void WriteTrailers(int32_t stream, const Headers& headers);
  void Reset(int32_t stream);
  void Ping();
  // Sends GOAWAY: no more calls, but responses are still read.
  void SayGoaway();
  // Makes a complete call and returns the response.
  Answer Call(const std::string& path, std::string_view message);

  // Sends pending bytes, and reads until `done` or the end of the connection. Returns false if it
  // ended.
  bool Until(const std::function<bool()>& done);
  Answer Await(int32_t stream);
  const Answer& answer(int32_t stream) { return answers_[stream]; }
  // True if the server has announced its end. Calls that are on their way are still served.
  bool is_end_announced() const { return is_end_announced_; }
  // True if the server accepts no more calls.
  bool is_asked_to_stop() const { return is_asked_to_stop_; }

  // Widens the flow-control window of the connection.
  void WidenConnection(int32_t bytes);
  // Sends bytes that violate HTTP/2. Returns false if the connection has ended.
  bool TrySendRaw(std::string_view bytes) const { return SendBytes(bytes); }
  void SendRaw(std::string_view bytes) const;
  void Disconnect();
  // Bytes sent from now on are sent together with the end of the connection.
  void JoinToEnd() const;
  // Ends sending; the server's bytes can still be read.
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
  bool is_end_announced_ = false;
  bool is_asked_to_stop_ = false;
  bool is_holding_ = false;
  std::string held_;
};

}  // namespace stele::server
