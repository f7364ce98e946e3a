// steled/transport/http2/http2_connection.h: the connection of one client: HTTP/2 with nghttp2, and
// the calls on its streams.
//
// Threads read and send under the connection's lock and never wait for the socket. Bytes that the
// socket does not accept are kept until its descriptor is writable again. Methods run without the
// lock.
//
// Used by:   steled/transport/transport.cc calls OnReady, and runs the method of each call that
//            begins. The method sends through its call (http2_stream.h).
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
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steled/transport/calls/call.h"
#include "steled/transport/calls/call_errors.h"
#include "steled/transport/calls/call_limits.h"
#include "steled/transport/calls/method.h"
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
  static constexpr size_t kStreamBytes = (size_t{1} << 10) + kSmallAnswerBytes;
  // No method has a longer path.
  static constexpr size_t kPathBytesMax = 256;
  // A request is stalled if fewer bytes arrive within the stall timeout, or no byte of a message
  // after its headers. A large request must also receive a certain share of the memory that it
  // holds. Otherwise a client could fill the memory for requests and keep it with a few bytes.
  static constexpr size_t kPaceBytes = size_t{16} << 10;
  static constexpr size_t kPaceShare = 16;
  // A client that reads less than this from a stream within the stall timeout does not read it.
  static constexpr size_t kReadBytesMin = size_t{16} << 10;
  // Requests up to this size have a part of the memory that larger ones cannot use.
  static constexpr size_t kSmallRequestBytes = size_t{16} << 10;
  // The most bytes of a buffer that is kept while a connection sends nothing.
  static constexpr size_t kRestingBytes = size_t{16} << 10;

  struct Stream;  // http2_stream.h
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
    TimePoint greeted_since;
    // A request that has received almost nothing since then is ended.
    TimePoint moved_since;
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
  CallPlaces::Taken* places_taken() { return &places_taken_; }

  // Notifies the host once the pause is over or the call must end, which may be at once.
  void Pause(Stream* stream, PauseKind kind);
  // Ends a call whose method has returned, or is not run. Returns the result of the call: `status`,
  // unless the client, its deadline or the end of the server ended the call before.
  absl::StatusCode Finish(Stream* stream, const absl::Status& status);

 private:
  struct Callbacks;  // callbacks of nghttp2, under the lock

  // Reserves memory for a request.
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
  void NotePace(Stream* stream, size_t bytes);
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
  CallPlaces::Taken places_taken_ = {};
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
  bool is_greeted_ = false;  // the client has sent the HTTP/2 preface
  // A PING was sent, and nothing was received since.
  bool is_asked_ = false;
  // The client has read the announcement of the end, and all calls it began before have come.
  bool is_announcement_read_ = false;
  bool is_drained_ = false;  // no more calls are accepted
  // The client was informed that it violated HTTP/2.
  bool is_broken_ = false;
  bool is_lingering_ = false;  // until the client closes it
  bool has_failed_ = false;
  bool is_closed_ = false;
};

}  // namespace stele::server
