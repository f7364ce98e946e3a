// steled/transport/http2/http2_stream.h: a call and the state of its stream. The lock of its
// connection guards all members that are not documented as constant or confined.
//
// Threads:   see above; the method's thread and the threads that serve the connection share it. The
//            functions of Call, and Handle, are for the thread that runs the call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "steled/transport/http2/grpc_protocol.h"
#include "steled/transport/http2/http2_connection.h"

namespace stele::server {

using Http2Stream = Http2Connection::Stream;

struct Http2Connection::Stream final : public Call,
                                       public std::enable_shared_from_this<Http2Stream> {
  // `connection` must outlive the run of the method.
  Stream(int32_t stream_id, Http2Connection* stream_connection)
      : id(stream_id), connection(*stream_connection) {}

  const std::string& path() const override { return request_path; }
  std::string_view metadata(std::string_view name) const override {
    for (const auto& [known, value] : kept_metadata) {
      if (known == name) return value;
    }
    return {};
  }
  std::optional<std::chrono::steady_clock::time_point> deadline() const override { return due_at; }
  std::stop_token stop() const override { return stop_source.get_token(); }
  bool Reserve(size_t bytes) override;
  bool ReserveAnswer(size_t bytes) override;
  void ReleaseAnswer(size_t bytes) override;
  void SetRefused(RefusalCause cause) override { refusal = cause; }
  bool Receive(std::string* message) override;
  bool Send(std::string framed, bool is_last) override;
  bool CanSend() const override;
  bool CanReceive() const override;
  void Pause(PauseKind kind, std::shared_ptr<PausedCall> paused) override {
    pause_kind = kind;
    rest = std::move(paused);
  }
  std::function<void()> Waker() override;
  // Runs the method, or continues it. An exception from a library ends the call, not the server.
  absl::Status Handle() noexcept;

  // These are confined to the thread that runs the call. While it is paused, the transport's lock
  // guards them.
  std::shared_ptr<PausedCall> rest;  // null: the method must be run, or has ended
  PauseKind pause_kind = PauseKind::kNone;
  std::chrono::steady_clock::time_point run_at;  // when the method began
  std::optional<RefusalCause> refusal;           // why the method did not run; nullopt: it ran
  size_t received_bytes = 0;
  size_t sent_bytes = 0;

  const int32_t id;
  Http2Connection& connection;
  // From the request's headers; constant once the call has begun.
  std::string request_path;
  std::optional<std::chrono::steady_clock::time_point> due_at;
  // The headers that methods use, each name once: a client can repeat a header for one byte.
  std::vector<std::pair<std::string, std::string>> kept_metadata;
  const Method* method = nullptr;
  size_t header_bytes = 0;  // of all headers, also of those not kept
  std::chrono::steady_clock::time_point begun_at = std::chrono::steady_clock::now();
  bool is_post = false;
  bool is_grpc = false;
  bool has_bad_timeout = false;
  bool has_unknown_encoding = false;
  // The HTTP status of a request that is not gRPC. It is sent once the request ends or brings data.
  const char* http_refusal = nullptr;

  MessageSplitter request;
  size_t stream_bytes = 0;   // reserved of the memory for requests, until the stream is closed
  size_t request_bytes = 0;  // likewise, until the method is done
  size_t answer_bytes = 0;   // likewise, for what the method holds to send it later
  size_t paced_bytes = 0;    // received since moved_at
  // When the first bytes of its messages arrived, or enough of them (kPaceBytes).
  std::chrono::steady_clock::time_point moved_at = begun_at;
  bool request_ended = false;
  bool has_begun = false;  // its method was passed to a thread

  PauseKind pause = PauseKind::kNone;  // its method waits without a thread
  bool is_woken = false;               // its Waker was called since the last pause

  bool response_begun = false;     // its headers were submitted
  std::deque<std::string> unsent;  // framed; the first is sent first
  size_t unsent_offset = 0;        // the bytes sent of the first one
  size_t unsent_bytes = 0;         // the unsent bytes of all
  size_t unsent_at_mark = 0;       // when the client was last seen to read
  std::chrono::steady_clock::time_point unsent_mark;
  bool is_given_up = false;            // it will be reset, since its client does not read it
  std::optional<absl::Status> status;  // the result of the method, or the reason why there is none
  // A message from the method was lost, or the method was told too early that no message comes.
  bool is_incomplete = false;
  bool is_beyond_memory = false;  // why the message was lost; only the method's thread changes it
  absl::Status request_error;     // why a message could not be passed to the method
  bool is_done = false;           // the method is done
  bool is_closed = false;         // no client listens any more
  bool is_ending = false;         // the server stops it; its client gets that status

  // The bytes reserved of the memory for requests, for the messages that are not sent completely
  // and for `more` bytes.
  size_t UnsentCharge(size_t more = 0) const {
    const size_t held = unsent_bytes + unsent_offset + more;
    return held > kSmallAnswerBytes ? held : 0;
  }
  // True if its request has neither come whole nor failed.
  bool IsIncomplete() const { return !has_begun && !status.has_value(); }
  // True if its method must end.
  bool IsStopped() const { return is_closed || is_ending; }
  // True if Receive does not wait.
  bool HasReceived() const { return IsStopped() || request_ended || request.whole_count() > 0; }

  std::condition_variable changed;  // messages arrived, bytes were sent, or it was closed
  std::stop_source stop_source;
};

}  // namespace stele::server
