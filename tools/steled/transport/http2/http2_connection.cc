#include "steled/transport/http2/http2_connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr size_t kOutputBytes = size_t{256} << 10;
// Output above this is charged. Without a charge, output is made in pieces of this size, each of
// which may end with a frame of up to 16 KiB.
constexpr size_t kUnchargedOutputBytes = size_t{4} << 10;
constexpr int kReadsMax = 16;  // before other connections are handled
constexpr size_t kOutboundFramesMax = 10'000;
// Above this rate of reset streams a connection ends (CVE-2023-44487). A client resets a stream
// when the deadline of its call passes, so an overloaded server sees many honest resets.
constexpr uint64_t kResetsMax = 2'000;  // at once
constexpr uint64_t kResetsPerSecond = 500;
// The flow-control windows: large, so that bulk writes do not wait for window updates.
constexpr int32_t kStreamWindowBytes = 1 << 20;
constexpr int32_t kConnectionWindowBytes = 8 << 20;
// Larger metadata is ignored. What methods use has a few bytes.
constexpr size_t kMetadataBytesMax = size_t{1} << 10;
// The limit for waiting messages of a stream whose method is running.
constexpr size_t kWaitingMessagesMax = 16;

nghttp2_nv Header(std::string_view name, std::string_view value,
                  uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  // nghttp2 takes non-const pointers, but does not change the bytes.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          flags};
}

// Literals outlive every session.
nghttp2_nv ConstantHeader(std::string_view name, std::string_view value) {
  return Header(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
}

std::string_view View(const uint8_t* bytes, size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

constexpr std::string_view kNotGrpc = "Only gRPC is served here.\n";

absl::Status TooManyRequestBytes() {
  return Overloaded("Too many bytes of requests at once; try again later");
}

// The time until the server began to respond, as Bigtable's clients measure it.
std::string ServerTiming(const Http2Stream& stream) {
  const auto elapsed = std::chrono::steady_clock::now() - stream.begun_at;
  return fmt::format(
      "gfet4t7; dur={}",
      std::max<int64_t>(std::chrono::ceil<std::chrono::milliseconds>(elapsed).count(), 1));
}

// grpc-status; grpc-message and grpc-status-details-bin where there are some; and `more`, which
// must outlive this object.
struct Trailers {
  Trailers(const absl::Status& status, const TransportTrailers& more)
      : code(std::to_string(status.raw_code())),
        text(PercentEncoded(TextOf(status))),
        details(StatusDetails(status)),
        headers{Header("grpc-status", code)} {
    if (!text.empty()) headers.push_back(Header("grpc-message", text));
    if (!details.empty()) headers.push_back(Header("grpc-status-details-bin", details));
    for (const auto& [name, value] : more) headers.push_back(Header(name, value));
  }

  const std::string code;
  const std::string text;
  const std::string details;
  std::vector<nghttp2_nv> headers;
};

// Returns the status of a call whose method returned `status`.
absl::Status StatusToReturn(const Http2Stream& stream, const absl::Status& status) {
  if (stream.is_beyond_memory) {
    return Unavailable("Too many bytes of answers that nobody has read; try again later");
  }
  if (!stream.request_error.ok()) return stream.request_error;
  if (!absl::IsCancelled(status) && !(status.ok() && stream.has_lost_message)) return status;
  // The client did not cancel the call; it may retry elsewhere, or here later.
  if (stream.is_ending) return Unavailable("The server ends");
  if (stream.due_at.has_value() && std::chrono::steady_clock::now() >= *stream.due_at) {
    return MakeStatus(absl::StatusCode::kDeadlineExceeded, "The call's deadline has passed");
  }
  return status.ok() ? MakeStatus(absl::StatusCode::kCancelled, "The client reads no more")
                     : status;
}

}  // namespace

// ---- callbacks of nghttp2; the connection's lock is held ----

struct Http2Connection::Callbacks {
  static Http2Connection* Of(void* user) { return static_cast<Http2Connection*>(user); }

  static Http2Stream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  // A callback as nghttp2 gets it. An exception would leave nghttp2, which is C, in an undefined
  // state, so it becomes an error that ends the session. The last argument is the connection.
  template <auto kCallback, typename... Args>
  static auto Guarded(Args... args) noexcept -> decltype(kCallback(args...)) {
    try {
      return kCallback(args...);
    } catch (...) {
      Of(std::get<sizeof...(Args) - 1>(std::tuple(args...)))->Fail();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Http2Connection* const connection = Of(user);
    const int32_t id = frame->hd.stream_id;
    const StreamPtr& stream =
        connection->streams_.emplace(id, std::make_shared<Http2Stream>(id, connection))
            .first->second;
    nghttp2_session_set_stream_user_data(session, id, stream.get());
    return 0;
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_bytes, const uint8_t* value, size_t value_bytes,
                      uint8_t /*flags*/, void* user) {
    // Ignore trailers: a running call reads the members that headers set.
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Http2Stream* const stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->header_bytes += name_bytes + value_bytes;
    if (stream->header_bytes > Http2Connection::kHeaderBytesMax) {
      // The client gets an error. If it sends far more, the stream is reset.
      return stream->header_bytes > 4 * Http2Connection::kHeaderBytesMax
                 ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE
                 : 0;
    }
    TakeHeader(View(name, name_bytes), View(value, value_bytes), Of(user)->host_, stream);
    return 0;
  }

  static void TakeHeader(std::string_view name, std::string_view value, const ConnectionHost& host,
                         Http2Stream* stream) {
    if (name == ":path") {
      stream->request_path = value.substr(0, Http2Connection::kPathBytesMax);
    } else if (name == ":method") {
      stream->is_post = value == "POST";
    } else if (name == "content-type") {
      stream->is_grpc = IsGrpcContentType(value);
    } else if (name == "grpc-encoding") {
      if (value == "gzip") stream->request.AllowCompressed();
      stream->has_unknown_encoding = value != "gzip" && value != "identity";
    } else if (name == "grpc-timeout") {
      const std::optional<std::chrono::nanoseconds> timeout = ParseTimeout(value);
      stream->has_bad_timeout = !timeout.has_value();
      if (timeout.has_value()) {
        stream->due_at = std::chrono::steady_clock::now() +
                         std::chrono::duration_cast<std::chrono::steady_clock::duration>(*timeout);
      }
    } else if (!value.empty() && value.size() <= kMetadataBytesMax &&
               std::count(host.metadata.begin(), host.metadata.end(), name) > 0 &&
               stream->metadata(name).empty()) {
      stream->kept_metadata.emplace_back(name, value);
    }
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Http2Connection* const connection = Of(user);
    if (frame->hd.type == NGHTTP2_SETTINGS) connection->has_preface_ = true;
    if (frame->hd.type == NGHTTP2_PING) connection->OnPing(frame->ping);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Http2Stream* const stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
      connection->OnRequestHeaders(stream);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) connection->OnRequestEnd(stream);
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t /*flags*/, int32_t stream_id,
                    const uint8_t* data, size_t bytes, void* user) {
    if (Http2Stream* const stream = StreamOf(session, stream_id); stream != nullptr)
      Of(user)->OnRequestBytes(stream, View(data, bytes));
    return 0;
  }

  static int OnStreamClose(nghttp2_session* /*session*/, int32_t stream_id, uint32_t /*error*/,
                           void* user) {
    Of(user)->OnStreamClosed(stream_id);
    return 0;
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
      Of(user)->is_broken_ = true;
    // The response was complete before its request, so the client need not send the rest.
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Http2Stream* const stream = StreamOf(session, frame->hd.stream_id);
    if (stream != nullptr && !stream->request_ended)
      Of(user)->FailIfFatal(
          nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR));
    return 0;
  }

  static ssize_t ReadAnswer(nghttp2_session* session, int32_t stream_id, uint8_t* buffer,
                            size_t room, uint32_t* flags, nghttp2_data_source* /*source*/,
                            void* user) {
    Http2Stream* const stream = StreamOf(session, stream_id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return Of(user)->TakeUnsent(stream, buffer, room, flags);
  }

  static nghttp2_session* NewSession(Http2Connection* connection) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    nghttp2_session* session = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &Guarded<&OnBeginHeaders>);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &Guarded<&OnHeader>);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Guarded<&OnFrame>);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &Guarded<&OnData>);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Guarded<&OnStreamClose>);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &Guarded<&OnFrameSent>);
    if (nghttp2_option_new(&option) == 0) {
      nghttp2_option_set_max_outbound_ack(option, kOutboundFramesMax);
      nghttp2_option_set_stream_reset_rate_limit(option, kResetsMax, kResetsPerSecond);
      // nghttp2 keeps closed streams for priorities, which are not used here.
      nghttp2_option_set_no_closed_streams(option, 1);
      if (nghttp2_session_server_new2(&session, callbacks, connection, option) != 0)
        session = nullptr;
      nghttp2_option_del(option);
    }
    nghttp2_session_callbacks_del(callbacks);
    return session;
  }
};

// ---- the connection ----

Http2Connection::Http2Connection(std::unique_ptr<Socket> socket, ConnectionHost* host)
    : host_(*host),
      descriptor_(socket->descriptor()),
      peer_(PeerName(descriptor_)),
      socket_(std::move(socket)) {
  session_ = Callbacks::NewSession(this);
  if (session_ == nullptr) {
    Fail();
    return;
  }
  const std::array<nghttp2_settings_entry, 3> settings = {
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderBytesMax}}};
  FailIfFatal(
      nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  FailIfFatal(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                                    kConnectionWindowBytes));
}

Http2Connection::~Http2Connection() {
  nghttp2_session_del(session_);
  host_.memory.Release(output_charge_, MemoryUse::kAnswer);
}

Http2Connection::Ready Http2Connection::OnReady(bool is_ending, std::vector<StreamPtr>* begun) {
  bool is_open = true;
  bool is_more = true;
  {
    const std::lock_guard lock(mutex_);
    begun_ = begun;
    Attempt([&] {
      // The streams that have begun hold memory without a charge until their calls are admitted.
      for (int reads = 0; is_more && is_open && reads < kReadsMax && begun->size() < kStreamsMax;
           ++reads)
        is_open = ReadSome(is_ending, &is_more);
      is_open = is_open && Flush();
      if (is_open && !IsWanted()) Linger();
    });
    is_open = is_open && !has_failed_ && !(is_lingering_ && is_broken_);
    begun_ = nullptr;
  }
  StopClosed();
  if (!is_open) return Ready::kOver;
  return is_more ? Ready::kMore : Ready::kWaits;
}

// True if something may still be received or sent.
bool Http2Connection::IsWanted() const {
  return output_offset_ < output_.size() || nghttp2_session_want_read(session_) != 0 ||
         nghttp2_session_want_write(session_) != 0;
}

bool Http2Connection::ReadSome(bool is_ending, bool* is_more) {
  if (is_closed_ || has_failed_) return false;
  // Not thread-local, since thread-local data is on every thread's stack, also on the small ones of
  // libraries.
  std::array<char, kReadBytes> buffer;
  const Socket::Result read = socket_->Read(buffer);
  // At the end less may be returned than requested, and the end is not reported again.
  *is_more = read.state == Socket::State::kMoved && (is_ending || !read.is_all);
  if (read.state != Socket::State::kMoved) return read.state == Socket::State::kWait;
  read_at_ = std::chrono::steady_clock::now();
  is_ping_unanswered_ = false;
  if (is_lingering_) return true;
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(buffer.data()), read.bytes);
  if (taken < 0) {
    if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC)
      host_.observer.OnHandshakeFailed(peer_,
                                       "the client does not begin with the preface of HTTP/2");
    Flush();  // nghttp2 sends the reason to the client
    return false;
  }
  // A client with too many unsent responses is disconnected, so send before there are too many.
  if (nghttp2_session_get_outbound_queue_size(session_) <= kOutboundFramesMax / 2) return true;
  return Flush() && nghttp2_session_get_outbound_queue_size(session_) <= kOutboundFramesMax;
}

bool Http2Connection::Flush() {
  if (is_closed_ || has_failed_) return false;
  if (is_lingering_) return true;
  while (true) {
    if (output_offset_ == output_.size()) {
      host_.memory.Release(std::exchange(output_charge_, 0), MemoryUse::kAnswer);
      if (!FillOutput()) return false;
      written_at_ = std::chrono::steady_clock::now();
    }
    if (output_.empty()) {
      // An idle connection keeps no large buffer.
      if (streams_.empty() && output_.capacity() > kIdleBufferBytesMax) std::string().swap(output_);
      room_.notify_all();
      return true;
    }
    const Socket::Result written = socket_->Write(std::string_view(output_).substr(output_offset_));
    if (written.state == Socket::State::kWait) return true;
    if (written.state != Socket::State::kMoved) return false;
    output_offset_ += written.bytes;
    written_at_ = std::chrono::steady_clock::now();
  }
}

bool Http2Connection::FillOutput() {
  output_.clear();
  output_offset_ = 0;
  while (output_.size() < kUnchargedOutputBytes ||
         (output_.size() < kOutputBytes && ChargeOutput())) {
    const uint8_t* data = nullptr;
    const ssize_t bytes = nghttp2_session_mem_send(session_, &data);
    if (bytes < 0) return false;
    if (bytes == 0) break;
    // nghttp2 does not return these bytes again.
    if (!Attempt([&] { output_.append(View(data, static_cast<size_t>(bytes))); })) return false;
  }
  return true;
}

// If a connection fails while a call sends, its descriptor reports it to the thread that handles
// it.
void Http2Connection::FlushOrShutDown() {
  Attempt([&] {
    if (!is_closed_ && !Flush()) socket_->ShutDown();
  });
}

// ---- requests ----

void Http2Connection::OnRequestHeaders(Http2Stream* stream) {
  if (stream->header_bytes > kHeaderBytesMax) {
    stream->kept_metadata.clear();
    return GiveUp(stream, RefusalCause::kLargeHeaders,
                  ResourceExhausted("Headers of more than {} bytes; send fewer", kHeaderBytesMax));
  }
  stream->method = host_.router.Find(stream->path());
  const bool uses_all = stream->method != nullptr && stream->method->uses_all_memory;
  if (uses_all) stream->kept_metadata.clear();  // not used
  size_t kept_bytes = kStreamBytes + stream->path().size();
  for (const auto& [name, value] : stream->kept_metadata) kept_bytes += name.size() + value.size();
  if (!host_.memory.Reserve(kept_bytes, uses_all ? MemoryUse::kHealth : MemoryUse::kSmall))
    return GiveUp(stream, RefusalCause::kMemory, TooManyRequestBytes());
  stream->stream_bytes = kept_bytes;
  if (!stream->is_post || !stream->is_grpc) {
    stream->http_refusal = stream->is_post ? "415" : "405";
    return;
  }
  if (stream->has_unknown_encoding) {
    return GiveUp(stream, RefusalCause::kBadRequest,
                  Unimplemented("grpc-encoding can be identity or gzip here"));
  }
  if (stream->has_bad_timeout) {
    return GiveUp(stream, RefusalCause::kBadRequest, Internal("grpc-timeout cannot be read"));
  }
  if (stream->method == nullptr) {
    return GiveUp(stream, RefusalCause::kUnknownMethod,
                  Unimplemented("{} is not offered", stream->path()));
  }
  stream->request.SetMessageBytesMax(std::min(host_.message_bytes_max, stream->method->bytes_max));
}

void Http2Connection::OnRequestBytes(Http2Stream* stream, std::string_view bytes) {
  if (stream->status.has_value()) return;  // already responded
  if (stream->http_refusal != nullptr) return RefuseAsHttp(stream);
  // Errors in the message are reported before overload, because a client retries a call that is
  // refused for overload.
  if (const absl::Status status = stream->request.Add(bytes); !status.ok())
    return GiveUp(stream, RefusalCause::kBadRequest, status);
  if (!ChargeRequest(stream, bytes.size()))
    return GiveUp(stream, RefusalCause::kMemory, TooManyRequestBytes());
  if (stream->request.whole_count() > kWaitingMessagesMax) {
    return GiveUp(stream, RefusalCause::kBadRequest,
                  ResourceExhausted("Too many messages wait on one stream"));
  }
  if (stream->method->takes_stream && stream->request.whole_count() > 0) {
    BeginCall(stream);
    Notify(stream);
  } else if (stream->request.whole_count() + (stream->request.IsInside() ? 1 : 0) > 1) {
    GiveUp(stream, RefusalCause::kBadRequest,
           Unimplemented("The method takes one request, and more than one came"));
  } else {
    NoteProgress(stream, bytes.size());
  }
}

void Http2Connection::OnRequestEnd(Http2Stream* stream) {
  stream->request_ended = true;
  if (stream->status.has_value()) return;
  if (stream->http_refusal != nullptr) return RefuseAsHttp(stream);
  if (stream->request.IsInside()) {
    return GiveUp(stream, RefusalCause::kBadRequest,
                  Internal("The request ends inside of a message"));
  }
  BeginCall(stream);
  Notify(stream);
}

void Http2Connection::GiveUp(Http2Stream* stream, RefusalCause cause, const absl::Status& status) {
  if (!stream->has_begun) {
    host_.observer.OnRefused({stream->path(), peer_, status.code(), cause});
    host_.memory.Release(std::exchange(stream->request_bytes, 0), MemoryUse::kRequest);
    stream->request = MessageSplitter();
  }
  Answer(stream, status);
}

// Begins a call when its request is complete, or the first message of a stream: before that a
// thread would only wait.
void Http2Connection::BeginCall(Http2Stream* stream) {
  if (stream->has_begun) return;
  if (is_drained_) return GiveUp(stream, RefusalCause::kShutdown, Overloaded("The server ends"));
  begun_->push_back(streams_.at(stream->id));
  stream->has_begun = true;
}

// ---- responses ----

bool Http2Connection::ChargeOutput() {
  if (output_.size() < output_charge_) return true;
  const size_t more = std::max(unsent_bytes_, kUnchargedOutputBytes);  // control frames, too
  const size_t bytes = std::min(kOutputBytes, output_.size() + more);
  if (!host_.memory.Reserve(bytes - output_charge_, MemoryUse::kAnswer)) return false;
  output_charge_ = bytes;
  return true;
}

absl::StatusCode Http2Connection::Finish(Http2Stream* stream, const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  // The stream may exist until its client has read the end.
  stream->request = MessageSplitter();
  host_.memory.Release(std::exchange(stream->request_bytes, 0), MemoryUse::kRequest);
  ReleaseUnread(std::exchange(stream->answer_bytes, 0));
  stream->is_done = true;
  absl::StatusCode code = status.code();
  Attempt([&] {
    const absl::Status told = StatusToReturn(*stream, status);
    code = told.code();
    if (is_closed_) return;
    Answer(stream, told);
    FlushOrShutDown();
  });
  return code;
}

void Http2Connection::Answer(Http2Stream* stream, const absl::Status& status) {
  if (stream->status.has_value() || !streams_.contains(stream->id)) return;
  stream->status = status;
  if (!status.ok() && !stream->response_begun) DropUnsent(stream);
  SubmitHeaders(stream);
}

void Http2Connection::SubmitHeaders(Http2Stream* stream) {
  if (stream->response_begun) {
    FailIfFatal(nghttp2_session_resume_data(session_, stream->id));
    return;
  }
  const std::string timing = ServerTiming(*stream);
  std::vector<nghttp2_nv> headers = {
      ConstantHeader(":status", "200"), ConstantHeader("content-type", "application/grpc"),
      ConstantHeader("grpc-accept-encoding", "identity,gzip"), Header("server-timing", timing)};
  const bool has_body = !stream->unsent.empty();
  std::optional<Trailers> trailers;
  if (!has_body) {
    trailers.emplace(*stream->status, host_.trailers);
    headers.insert(headers.end(), trailers->headers.begin(), trailers->headers.end());
  }
  stream->response_begun = true;
  SubmitResponse(stream, headers, has_body);
}

void Http2Connection::SubmitResponse(Http2Stream* stream, std::span<const nghttp2_nv> headers,
                                     bool has_body) {
  const nghttp2_data_provider body = {.source = {},
                                      .read_callback = &Callbacks::Guarded<&Callbacks::ReadAnswer>};
  FailIfFatal(nghttp2_submit_response(session_, stream->id, headers.data(), headers.size(),
                                      has_body ? &body : nullptr));
}

void Http2Connection::RefuseAsHttp(Http2Stream* stream) {
  host_.memory.Release(std::exchange(stream->request_bytes, 0), MemoryUse::kRequest);
  stream->status = Unimplemented("not gRPC");
  stream->response_begun = true;
  stream->unsent.emplace_back(kNotGrpc);
  stream->unsent_bytes += kNotGrpc.size();
  unsent_bytes_ += kNotGrpc.size();
  const std::array<nghttp2_nv, 2> headers = {Header(":status", stream->http_refusal),
                                             ConstantHeader("content-type", "text/plain")};
  SubmitResponse(stream, headers, /*has_body=*/true);
}

ssize_t Http2Connection::TakeUnsent(Http2Stream* stream, uint8_t* buffer, size_t room,
                                    uint32_t* flags) {
  const size_t charge = stream->UnsentCharge();
  size_t taken = 0;
  while (taken < room && !stream->unsent.empty()) {
    std::string& message = stream->unsent.front();
    const size_t bytes = std::min(room - taken, message.size() - stream->unsent_offset);
    std::memcpy(buffer + taken, message.data() + stream->unsent_offset, bytes);
    taken += bytes;
    stream->unsent_offset += bytes;
    stream->unsent_bytes -= bytes;
    if (stream->unsent_offset < message.size()) break;
    stream->unsent.pop_front();
    stream->unsent_offset = 0;
  }
  if (taken > 0) {
    unsent_bytes_ -= taken;
    ReleaseUnread(charge - stream->UnsentCharge());
    room_.notify_all();
    Notify(stream);
  }
  if (!stream->unsent.empty()) return static_cast<ssize_t>(taken);
  if (stream->http_refusal != nullptr) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  } else if (stream->status.has_value()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const Trailers trailers(*stream->status, host_.trailers);
    FailIfFatal(nghttp2_submit_trailer(session_, stream->id, trailers.headers.data(),
                                       trailers.headers.size()));
  } else if (taken == 0) {
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(taken);
}

}  // namespace stele::server
