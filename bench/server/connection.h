// server/connection.h: one connection to a server, over which gRPC's calls go as bytes.
//
// What is measured are servers, so the client does as little as it can: a call is one write and, where the answer is short, one read. It is
// HTTP/2 without TLS and without being asked whether the server speaks it, as gRPC's own clients do it. The client's windows are as large
// as HTTP/2 has them, so that no server waits for it. What the client owes a server after a call (acknowledgements) goes with the next
// request.
//
// Units:     an answer is what the server sent as data: messages, each behind gRPC's prefix (server/message.h).
// Errors:    the server's own status; Unavailable where the connection or the stream ended early, Internal where an answer is not gRPC,
//            DeadlineExceeded where nothing moves for a minute. A connection that failed once answers each further call with that.
// Threads:   confined to one thread, which waits in Call, or goes from one connection to the next with Begin and Advance.
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
  // `address`: "HOST:PORT". Returns when the server knows this side's windows; if that fails the first call says why.
  explicit Connection(std::string address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `path`: "/google.bigtable.v2.Bigtable/MutateRow". `request`: a message behind its prefix. Appends all data of the answer to `answer`.
  absl::Status Call(std::string_view path, std::string_view request, std::string* answer);

  // The same without waiting: Begin, then Advance whenever descriptor() has something to read or, while HasUnsent(), takes something to
  // write, until IsOver(). `request` and `answer` have to live until then. One call at a time.
  void Begin(std::string_view path, std::string_view request, std::string* answer);
  void Advance() { Advance(Wait::kNo); }
  bool IsOver() const { return exchange_.is_closed || !exchange_.failure.ok(); }
  // Of the call that is over.
  absl::Status End();
  // Negative where there is no connection; then each call is over at once.
  int descriptor() const { return socket_; }
  bool HasUnsent() const { return sent_bytes_ < to_send_.size(); }

 private:
  enum class Wait : uint8_t { kNo, kYes };

  // The call under way.
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
  // Sends all that the session has to send, or what the socket takes.
  absl::Status Flush(Wait wait);
  // Gives the session what came.
  absl::Status Receive(Wait wait);
  absl::Status StatusOfExchange() const;

  const std::string address_;
  int socket_ = -1;
  std::unique_ptr<nghttp2_session, EndSession> session_;
  std::string to_send_;
  size_t sent_bytes_ = 0;  // of to_send_
  Exchange exchange_;
  bool is_ready_ = false;  // the server took this side's settings
  absl::Status broken_;    // why no further call can be made
};

}  // namespace stele_load
