// transport/http2_connection.h: one client's connection: HTTP/2 by nghttp2, and the calls on its streams.
//
// Whoever has something to read or to send does it at once, under the connection's lock and without waiting; what a socket does not take
// stays until its descriptor tells that it takes more. Methods run without the lock.
//
// Path:      transport -> OnReady -> calls that begin -> methods -> Send, Finish.
// Bounds:    kStreamsMax calls of a connection at once; kHeaderBytesMax of headers; kUnsentBytesMax and a message that a call has not sent;
//            of the memory for requests, what large answers take that nobody has read yet.
// Errors:    a client that breaks HTTP/2's rules loses its connection; one that breaks gRPC's gets a status.
// Threads:   thread-safe.
// Source:    RFC 9113; gRPC over HTTP/2.
#pragma once

#include <nghttp2/nghttp2.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "transport/call.h"
#include "transport/http2_stream.h"
#include "transport/socket.h"

namespace stele::server {

// What all connections of a server share.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual const Method* FindMethod(std::string_view path) const = 0;
  // Whether calls are to keep the header of that name.
  virtual bool IsAskedFor(std::string_view name) const = 0;
  virtual size_t message_bytes_max() const = 0;
  // What every answer ends with, beside its status.
  virtual const TransportTrailers& trailers() const = 0;
  // Of the memory that requests may take. False: there is no room.
  virtual bool ReserveRequestBytes(size_t bytes) = 0;
  virtual void ReleaseRequestBytes(size_t bytes) = 0;
  // How much of it the answers of one connection may take.
  virtual size_t connection_answer_bytes_max() const = 0;
  // A call that was paused may go on. Called under the connection's lock.
  virtual void OnResumed(const Http2Stream* stream) = 0;
  // A call of `path`, as the client names it, was answered so and its method not run.
  virtual void OnRefused(const std::string& path, absl::StatusCode code) = 0;
};

class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
  static constexpr uint32_t kStreamsMax = 100;
  static constexpr size_t kHeaderBytesMax = size_t{16} << 10;
  // What a stream takes beside the headers that are kept of it, and its messages.
  static constexpr size_t kStreamBytes = size_t{1} << 10;
  // A longer path is nobody's.
  static constexpr size_t kPathBytesMax = 256;
  // A request that brings fewer bytes within the time for a stall stands still.
  static constexpr size_t kPaceBytes = size_t{16} << 10;
  // An answer of fewer bytes is not charged.
  static constexpr size_t kChargedBytes = size_t{4} << 10;
  // A client that reads less of a stream in the time for a stall does not read it.
  static constexpr size_t kReadBytesLeast = size_t{16} << 10;

  using StreamPtr = std::shared_ptr<Http2Stream>;

  // `host` has to outlive it.
  Http2Connection(std::unique_ptr<Socket> socket, ConnectionHost* host);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  enum class Ready {
    kWaits,  // until its descriptor tells
    kMore,   // there is more to read; others may have their turn first
    kOver,   // Close it
  };
  // Reads what came and sends what can be sent. `is_ending`: its descriptor tells that nothing comes after it. Appends the streams whose
  // methods are to run.
  Ready OnReady(bool is_ending, std::vector<StreamPtr>* begun);
  // Takes no more calls; those that run go on.
  void Drain();
  // Answers the requests of which next to nothing has come since `since`, and those that have not come whole and began before
  // `begun_since`: what they hold is others'.
  void GiveUpStalled(std::chrono::steady_clock::time_point since, std::chrono::steady_clock::time_point begun_since);
  struct Patience {
    std::chrono::steady_clock::time_point since;         // who has read next to nothing since then does not read
    std::chrono::steady_clock::time_point ping_since;    // who has said nothing since then is asked by a PING
    std::chrono::steady_clock::time_point silent_since;  // who was asked and has said nothing since then is gone
  };
  // Ends the streams that their client does not read. False: it takes no bytes at all or is gone; Close it.
  bool EndUnread(const Patience& patience);
  // Tells the calls that run to stop: those that do are answered UNAVAILABLE.
  void StopCalls();
  // Ends it, and with it its calls.
  void Close();
  // Whether the client has said that it speaks HTTP/2.
  bool IsGreeted() const { return is_greeted_; }
  // Waits until the client's system has all answers, or nobody listens any more.
  void AwaitRead(std::chrono::steady_clock::time_point end);
  int descriptor() const { return descriptor_; }
  // Of the calls that wait or run. The transport's lock guards it.
  int* call_count() { return &call_count_; }
  std::chrono::steady_clock::time_point since() const { return since_; }

  // For the call on `stream`; what they mean: call.h.
  bool Send(Http2Stream* stream, std::string framed, bool is_last);
  bool Reserve(Http2Stream* stream, size_t bytes);
  bool Receive(Http2Stream* stream, std::string* message);
  bool CanSend(const Http2Stream& stream) const;
  bool HasMore(const Http2Stream& stream) const;
  // Tells the host once Send would not wait, or the call is to end: now, if it is so.
  void Pause(Http2Stream* stream);
  // The method is done, or is not run at all. Answers what became of the call: `status`, unless that is the client's, its deadline's or the
  // server's end.
  absl::StatusCode Finish(Http2Stream* stream, const absl::Status& status);

 private:
  struct Callbacks;  // what nghttp2 calls, under the lock

  // All of these under the lock.
  bool ReadSome(bool is_ending, bool* is_more);
  bool IsWanted() const;
  // Shuts down the sending side and ignores what arrives, so that the client can read what was
  // sent. Closing the socket while bytes still arrive would reset it and discard unread data.
  void Linger();
  // Everything that the socket takes. False: it is closed.
  bool Flush();
  bool FillOutput();
  void FlushOrShutDown();

  void ResumeIfDue(Http2Stream* stream);
  // False: there is no room for an answer of so many bytes.
  bool ChargeAnswer(Http2Stream* stream, size_t bytes);
  void DropUnsent(Http2Stream* stream);
  void OnRequestHeaders(Http2Stream* stream);
  void OnRequestBytes(Http2Stream* stream, std::string_view bytes);
  void OnRequestEnd(Http2Stream* stream);
  void BeginCall(Http2Stream* stream);
  void OnStreamClosed(int32_t stream_id);

  // Takes no more of the request.
  void GiveUp(Http2Stream* stream, const absl::Status& status);
  void Answer(Http2Stream* stream, const absl::Status& status);
  void SubmitHeaders(Http2Stream* stream);
  void SubmitTrailersOnly(Http2Stream* stream);
  void Refuse(Http2Stream* stream, const char* http_status);
  // Of the first unsent message, up to `room` bytes; what nghttp2 has to know beside.
  ssize_t TakeUnsent(Http2Stream* stream, uint8_t* buffer, size_t room, uint32_t* flags);

  ConnectionHost& host_;
  const int descriptor_;
  int call_count_ = 0;
  std::atomic<bool> is_greeted_ = false;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();

  mutable std::mutex mutex_;
  const std::unique_ptr<Socket> socket_;  // it and all below: guarded by mutex_
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, StreamPtr> streams_;
  std::vector<StreamPtr>* begun_ = nullptr;  // of the OnReady that runs
  std::vector<std::stop_source> stopped_;    // to be told once the lock is free
  std::string output_;                       // what nghttp2 wrote and the socket has not taken
  size_t output_offset_ = 0;
  size_t unsent_bytes_ = 0;                                    // of all streams
  size_t unsent_charge_ = 0;                                   // likewise
  std::condition_variable room_;                               // unsent_bytes_ sank, all output went, or a stream was closed
  std::chrono::steady_clock::time_point read_at_ = since_;     // when bytes came last
  std::chrono::steady_clock::time_point written_at_ = since_;  // when the socket last took bytes, or had to take none
  bool is_asked_ = false;                                      // by a PING, and has said nothing since
  bool is_broken_ = false;                                     // its client was told that it broke HTTP/2's rules
  bool is_lingering_ = false;                                  // until the client ends it
  bool is_closed_ = false;
};

}  // namespace stele::server
