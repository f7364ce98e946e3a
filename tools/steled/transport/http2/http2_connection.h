// steled/transport/http2/http2_connection.h: the connection of one client: HTTP/2 with nghttp2, and
// the calls on its streams.
//
// Threads read and send under the connection's lock and never wait for the socket. Bytes that the
// socket does not accept are kept until its descriptor is writable again. Methods run without the
// lock.
//
// Used by:   steled/transport/transport.cc calls OnReady, and runs the method of each call that
//            begins. The method sends through its call (Stream).
// Bounds:    kStreamsMax calls of a connection at once; kHeaderBytesMax of headers; kUnsentBytesMax
//            and one message unsent per call. Large responses that are not read yet are charged to
//            the memory for requests (calls/call_limits.h). A connection without its streams is
//            not charged, since the number of connections is limited: nghttp2's session and its
//            tables of headers take 14 KiB without a call, and 39 KiB with full tables (measured).
// Errors:    a client that violates HTTP/2 is disconnected; one that violates gRPC gets a status.
//            Without memory for its state a connection fails: it is closed, and its calls end. Only
//            Send and Receive throw exceptions of the standard library, to the method. These leave
//            the connection as it is.
// Threads:   thread-safe.
// Source:    RFC 9113; gRPC over HTTP/2.
#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "steled/transport/calls/call.h"
#include "steled/transport/calls/call_errors.h"
#include "steled/transport/calls/call_limits.h"
#include "steled/transport/calls/method.h"
#include "steled/transport/http2/grpc_protocol.h"
#include "steled/transport/sockets/socket.h"

namespace stele::server {

// A call with more unsent bytes than this waits before it sends the next message.
inline constexpr size_t kUnsentBytesMax = size_t{256} << 10;
// Unsent messages up to this size together are a part of the memory of a stream (kStreamBytes).
inline constexpr size_t kSmallAnswerBytes = size_t{1} << 10;

// The state that all connections of a server share. The options are those of TransportOptions.
struct ConnectionHost {
  const Router& router;
  CallObserver& observer;
  const std::vector<std::string> metadata;
  const TransportTrailers trailers;
  const size_t message_bytes_max;
  // Called under the connection's lock when a paused call may continue.
  const std::function<void(const Call*)> resume;
  RequestMemory memory;
};

class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
  static constexpr uint32_t kStreamsMax = 100;
  static constexpr size_t kHeaderBytesMax = size_t{16} << 10;
  // The memory of a stream without its kept headers and its messages, but with a small answer.
  static constexpr size_t kStreamBytes = (size_t{7} << 8) + kSmallAnswerBytes;
  // No method has a longer path.
  static constexpr size_t kPathBytesMax = 256;
  // A request is stalled if fewer bytes arrive within the stall timeout, or no byte of a message
  // after its headers. A large request must also receive a certain share of the memory that it
  // holds. Otherwise a client could fill the memory for requests and keep it with a few bytes.
  static constexpr size_t kProgressBytesMin = size_t{16} << 10;
  static constexpr size_t kProgressShare = 16;
  // A client that reads less than this from a stream within the stall timeout does not read it.
  static constexpr size_t kReadBytesMin = size_t{16} << 10;
  // Requests up to this size have a part of the memory that larger ones cannot use.
  static constexpr size_t kSmallRequestBytes = size_t{16} << 10;
  // The most bytes of a buffer that is kept while a connection sends nothing.
  static constexpr size_t kIdleBufferBytesMax = size_t{16} << 10;

  struct Stream;  // a call; below
  using StreamPtr = std::shared_ptr<Stream>;
  using Streams = std::map<int32_t, StreamPtr>;  // by their ids

  // `host` must outlive it.
  Http2Connection(std::unique_ptr<Socket> socket, ConnectionHost* host);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  enum class Ready {
    kWaits,  // until its descriptor is ready
    kMore,   // there is more to read; other connections may be handled first
    kOver,   // call Close
  };
  // Reads received bytes and sends as much as the socket accepts. `is_ending`: according to its
  // descriptor the client sends no more. Appends the streams whose methods must be run.
  Ready OnReady(bool is_ending, std::vector<StreamPtr>* begun);
  // Ends the connection in two steps, since calls may be on their way (RFC 9113, section 6.8).
  // AnnounceEnd asks the client to begin no more calls, and accepts those that come. Drain accepts
  // no more. Running calls continue.
  void AnnounceEnd();
  // Waits until the client has read the announcement, is gone, or `end`.
  void AwaitAnnounced(std::chrono::steady_clock::time_point end);
  // Also ends calls that wait for a message of their client.
  void Drain();
  // Answers incomplete requests with UNAVAILABLE. They had no effect.
  void RefuseIncomplete();
  struct Cutoffs {
    using TimePoint = std::chrono::steady_clock::time_point;
    // A client that has connected before must have sent the HTTP/2 preface.
    TimePoint preface_since;
    // A request that has received almost nothing since then is ended.
    TimePoint progress_since;
    // An incomplete request that began before is ended.
    TimePoint begun_since;
    // A client that has taken no byte since then does not read. One that has read almost nothing of
    // a stream since then does not read the stream.
    TimePoint read_since;
    // The same for streams that hold memory.
    TimePoint charged_since;
    // A client that was silent since then gets a PING.
    TimePoint ping_since;
    // A client that got a PING and was silent since then is gone.
    TimePoint silent_since;
  };
  // Ends slow requests and streams that the client does not read. Returns false if the client sends
  // no preface, reads nothing at all or is gone; call Close then.
  bool EndStalled(const Cutoffs& cutoffs);
  // Stops the running calls, or those that wait for a message; those that stop return UNAVAILABLE.
  void EndCalls(bool are_all);
  // Closes it, and ends its calls.
  void Close();
  // Waits until the begun calls have ended and the client's system has all responses, the client is
  // gone, or `end`.
  void AwaitRead(std::chrono::steady_clock::time_point end);
  int descriptor() const { return descriptor_; }
  // The client's address (PeerName).
  const std::string& peer() const { return peer_; }
  size_t StreamCount() const;
  // The transport's lock guards it.
  CallSlots::Counts* slots_taken() { return &slots_taken_; }

  // Notifies the host once the pause is over or the call must end, which may be at once. Releases
  // the messages that the method has received.
  void BeginPause(Stream* stream, PauseKind kind);
  // Ends a call whose method has returned, or is not run. Returns the result of the call: `status`,
  // unless the client, its deadline or the end of the server ended the call before.
  absl::StatusCode Finish(Stream* stream, const absl::Status& status);

 private:
  struct Callbacks;  // callbacks of nghttp2, under the lock

  // Reserves memory for a request. Does not set the refusal of the call.
  bool Reserve(Stream* stream, size_t bytes);
  // Stops the calls of closed streams. Without the lock, since a method that hears of its stop may
  // take it.
  void StopClosed();

  // All of these need the lock.
  // Runs a step that may change the session. If it throws, the connection fails. Returns false if
  // the connection has failed.
  template <typename Step>
  bool Attempt(const Step& step) noexcept {
    if (!Completes(step)) Fail();
    return !has_failed_;
  }
  // The session may be incomplete, so it is not used any more. The descriptor reports the end to
  // the thread that handles it.
  void Fail() noexcept;
  // `result` is of a function of nghttp2 that needs memory.
  void FailIfFatal(int result) noexcept;
  bool ReadSome(bool is_ending, bool* is_more);
  bool IsWanted() const;
  // True if the session may be used.
  bool IsUsable() const { return !is_closed_ && !is_lingering_ && !has_failed_; }
  // True if the client does not use the connection as it must.
  bool IsStalled(const Cutoffs& cutoffs) const;
  void EndStalledStreams(const Cutoffs& cutoffs, Cutoffs::TimePoint now);
  // Shuts down the sending side and ignores what arrives, so that the client can read what was
  // sent. Closing the socket while bytes still arrive would reset it and discard unread data.
  void Linger();
  // Sends as much as the socket takes. Returns false if it is closed.
  bool Flush();
  bool FillOutput();
  void FlushOrShutDown();

  void OnPing(const nghttp2_ping& ping);
  // Notifies a method that waits, with or without a thread.
  void Notify(Stream* stream);
  // True if Send does not wait.
  bool HasRoom(const Stream& stream) const;
  bool IsPauseOver(const Stream& stream) const;
  // Reserves memory for responses. Returns false if there is no room, or the connection has its
  // share.
  bool ReserveUnread(size_t bytes);
  void ReleaseUnread(size_t bytes);
  // Charges output_ and its growth. Returns false if there is no room: then output_ stays small,
  // and the connection sends in smaller pieces.
  bool ChargeOutput();
  void DropUnsent(Stream* stream);
  void OnRequestHeaders(Stream* stream);
  void OnRequestBytes(Stream* stream, std::string_view bytes);
  // Charges bytes of a request. Returns false if there is no room.
  bool ChargeRequest(Stream* stream, size_t bytes);
  void NoteProgress(Stream* stream, size_t bytes);
  void OnRequestEnd(Stream* stream);
  void BeginCall(Stream* stream);
  void OnStreamClosed(int32_t stream_id);
  // Releases the stream's charges, except those that its method needs.
  void EndStream(Stream* stream);

  // Ignores the rest of the request.
  void GiveUp(Stream* stream, RefusalCause cause, const absl::Status& status);
  void Answer(Stream* stream, const absl::Status& status);
  void SubmitHeaders(Stream* stream);
  void SubmitResponse(Stream* stream, std::span<const nghttp2_nv> headers, bool has_body);
  // Sends the http_refusal of a request that is not gRPC.
  void RefuseAsHttp(Stream* stream);
  // Moves up to `room` bytes of the first unsent message to `buffer`, and sets the flags for
  // nghttp2.
  ssize_t TakeUnsent(Stream* stream, uint8_t* buffer, size_t room, uint32_t* flags);

  ConnectionHost& host_;
  const int descriptor_;
  const std::string peer_;
  CallSlots::Counts slots_taken_ = {};
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();

  mutable std::mutex mutex_;
  const std::unique_ptr<Socket> socket_;  // this and all below: guarded by mutex_
  nghttp2_session* session_ = nullptr;
  Streams streams_;
  std::vector<StreamPtr>* begun_ = nullptr;  // of the running OnReady
  Streams stopped_;                          // closed ones, for StopClosed
  std::string output_;                       // bytes from nghttp2 that the socket has not taken
  size_t output_offset_ = 0;
  size_t output_charge_ = 0;  // reserved of the memory for requests
  size_t unsent_bytes_ = 0;   // of all streams
  size_t unread_charge_ = 0;  // reserved for their responses
  // unsent_bytes_ decreased, all output was sent, a stream was closed, or the client has read the
  // announcement of the end.
  std::condition_variable room_;
  std::chrono::steady_clock::time_point read_at_ = since_;  // when bytes last arrived
  // When the socket last accepted bytes, or had none to send.
  std::chrono::steady_clock::time_point written_at_ = since_;
  bool has_preface_ = false;  // the client has sent the HTTP/2 preface
  // A PING was sent, and nothing was received since.
  bool is_ping_unanswered_ = false;
  // The client has read the announcement of the end, and all calls it began before have come.
  bool is_announcement_read_ = false;
  bool is_drained_ = false;  // no more calls are accepted
  // The client was informed that it violated HTTP/2.
  bool is_broken_ = false;
  bool is_lingering_ = false;  // until the client closes it
  bool has_failed_ = false;
  bool is_closed_ = false;
};

// A call and the state of its stream. The lock of its connection guards all members that are not
// documented as constant or confined. The functions of Call, and Handle, are for the thread that
// runs the call.
struct Http2Connection::Stream final
    : public Call,
      public std::enable_shared_from_this<Http2Connection::Stream> {
  // `stream_connection` must outlive the run of the method.
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
    requested_pause = kind;
    continuation = std::move(paused);
  }
  std::function<void()> Waker() override;
  // Runs the method, or continues it. An exception from a library ends the call, not the server.
  absl::Status Handle() noexcept;

  // These are confined to the thread that runs the call. While it is paused, the transport's lock
  // guards them.
  // Null: the method must be run, or has ended. It may own a Waker, and so this object: whoever
  // ends the call sets it to null.
  std::shared_ptr<PausedCall> continuation;
  PauseKind requested_pause = PauseKind::kNone;
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
  std::chrono::steady_clock::time_point begun_at = std::chrono::steady_clock::now();  // headers
  bool is_post = false;
  bool is_grpc = false;
  bool has_bad_timeout = false;
  bool has_unknown_encoding = false;
  // The HTTP status of a request that is not gRPC. It is sent once the request ends or brings data.
  const char* http_refusal = nullptr;

  // The connection's lock guards these and all below, except stop_source.
  MessageSplitter request;
  size_t stream_bytes = 0;   // reserved of the memory for requests, until the stream is closed
  size_t request_bytes = 0;  // likewise, until the method is done
  size_t answer_bytes = 0;   // likewise, for what the method holds to send it later
  size_t bytes_since_progress = 0;  // received since progress_at
  // When the first bytes of its messages arrived, or enough of them (kProgressBytesMin).
  std::chrono::steady_clock::time_point progress_at = begun_at;
  bool request_ended = false;
  bool has_begun = false;  // its method was passed to a thread

  PauseKind current_pause = PauseKind::kNone;  // its method waits without a thread
  bool is_woken = false;                       // its Waker was called since the last pause

  bool response_begun = false;     // its headers were submitted
  std::deque<std::string> unsent;  // framed; the first is sent first
  size_t unsent_offset = 0;        // the bytes sent of the first one
  size_t unsent_bytes = 0;         // the unsent bytes of all
  size_t unsent_at_last_read = 0;  // when the client was last seen to read
  std::chrono::steady_clock::time_point last_read_at;
  bool is_given_up = false;            // it will be reset, since its client does not read it
  std::optional<absl::Status> status;  // the result of the method, or the reason why there is none
  // A message from the method was lost, or the method was told too early that no message comes.
  bool has_lost_message = false;
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
  bool AwaitsRequest() const { return !has_begun && !status.has_value(); }
  // True if its method must end.
  bool IsStopped() const { return is_closed || is_ending; }
  // True if Receive does not wait.
  bool HasReceived() const { return IsStopped() || request_ended || request.whole_count() > 0; }

  std::condition_variable changed;  // messages arrived, bytes were sent, or it was closed
  std::stop_source stop_source;
};

using Http2Stream = Http2Connection::Stream;

}  // namespace stele::server
