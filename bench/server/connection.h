// bench/server/connection.h: a connection to a server that carries gRPC calls as bytes.
//
// The client does as little as possible: a call is one write and, for a short response, one read.
// The protocol is HTTP/2 without TLS and with prior knowledge, as gRPC clients use it. The windows
// have HTTP/2's maximum size, so that no server waits. Acknowledgements are sent with the next
// request.
//
// Units:     A response is the data that the server sent: messages, each with gRPC's prefix
//            (server/message.h).
// Errors:    The server's own status. Unavailable: the connection or the stream ended early.
//            Internal: the response is not gRPC. DeadlineExceeded: nothing moved for a minute.
//            After a connection has failed, each further call fails with the same error.
// Threads:   Confined to one thread. The thread waits in Call, or serves several connections with
//            Begin and Advance.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace stele_load {

class Connection {
 public:
  // `address` is "HOST:PORT". Returns after the server received this side's windows. If that fails,
  // the first call returns the error.
  explicit Connection(std::string address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `path` is for example "/google.bigtable.v2.Bigtable/MutateRow". `request` is a message with its
  // prefix. Appends all data of the response to `answer`.
  absl::Status Call(std::string_view path, std::string_view request, std::string* answer);

  // Makes a call without waiting. Call Begin, then call Advance whenever descriptor() is readable
  // or, while HasUnsent(), writable, until IsOver(). `request` and `answer` must live until then.
  // One call at a time.
  void Begin(std::string_view path, std::string_view request, std::string* answer);
  void Advance() { Advance(Wait::kNo); }
  bool IsOver() const { return exchange_.is_closed || !exchange_.failure.ok(); }
  // Returns the status of the completed call.
  absl::Status End();
  // Negative if there is no connection; every call then fails at once.
  int descriptor() const { return socket_; }
  bool HasUnsent() const { return sent_bytes_ < to_send_.size(); }

 private:
  enum class Wait : uint8_t { kNo, kYes };

  // The call in progress.
  struct Exchange {
    std::string_view unsent;
    std::string* answer = nullptr;
    std::string http_status;
    std::string grpc_status;
    std::string grpc_message;
    absl::Status failure;  // of the connection
    uint32_t reset_code = 0;
    bool is_closed = true;
  };
  struct Callbacks;
  struct EndSession {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  absl::Status Connect();
  absl::Status StartSession();
  absl::Status Submit(std::string_view path);
  void Advance(Wait wait);
  // Sends everything that the session has to send, or as much as the socket accepts.
  absl::Status Flush(Wait wait);
  // Passes received data to the session.
  absl::Status Receive(Wait wait);
  absl::Status StatusOfExchange() const;

  const std::string address_;
  int socket_ = -1;
  std::unique_ptr<nghttp2_session, EndSession> session_;
  std::string to_send_;
  size_t sent_bytes_ = 0;  // of to_send_
  Exchange exchange_;
  bool is_ready_ = false;  // the server acknowledged this side's settings
  absl::Status broken_;    // the reason why no further call is possible
};

}  // namespace stele_load
