#include "transport/http2_connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "errors.h"
#include "transport/grpc_protocol.h"
#include "transport/gzip.h"

namespace stele::server {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr size_t kOutputBytes = size_t{256} << 10;
constexpr size_t kRestingBytes = size_t{16} << 10;
constexpr int kReadsMax = 16;  // before others have their turn
constexpr size_t kOutboundFramesMax = 10'000;
// How much a client may send before it hears that it was read: bulk writes should not wait for that.
constexpr int32_t kStreamWindowBytes = 1 << 20;
constexpr int32_t kConnectionWindowBytes = 8 << 20;
// Of a stream that goes on after its method began, how many messages wait for the method.
constexpr size_t kWaitingMessagesMax = 16;

nghttp2_nv Header(std::string_view name, std::string_view value, uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  // nghttp2 takes pointers to what it does not change, without saying so.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())), reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
          name.size(), value.size(), flags};
}

// Literals outlive every session.
nghttp2_nv ConstantHeader(std::string_view name, std::string_view value) {
  return Header(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
}

std::string_view View(const uint8_t* bytes, size_t count) { return {reinterpret_cast<const char*>(bytes), count}; }

nghttp2_nv AcceptedEncodings() { return ConstantHeader("grpc-accept-encoding", "identity,gzip"); }

// How long the server took until it began to answer, as Bigtable's clients measure it.
std::string ServerTiming(const Http2Stream& stream) {
  const auto elapsed = std::chrono::steady_clock::now() - stream.begun_at;
  return fmt::format("gfet4t7; dur={}", std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
}

// grpc-status and, where there is one, grpc-message.
struct StatusHeaders {
  explicit StatusHeaders(const absl::Status& status) : code(std::to_string(status.raw_code())), text(PercentEncoded(TextOf(status))) {}

  template <typename Submit>
  int With(const TransportTrailers& more, const Submit& submit) const {
    std::vector<nghttp2_nv> headers = {ConstantHeader(":status", "200"), ConstantHeader("content-type", "application/grpc"),
                                       AcceptedEncodings(), Header("grpc-status", code)};
    if (!text.empty()) headers.push_back(Header("grpc-message", text));
    for (const auto& [name, value] : more) headers.push_back(Header(name, value));
    return submit(std::span<const nghttp2_nv>(headers));
  }

  const std::string code;
  const std::string text;
};

// What becomes of a call whose method answered `status`.
absl::Status StatusToTell(const Http2Stream& stream, const absl::Status& status) {
  if (stream.is_beyond_memory) {
    return MakeStatus(absl::StatusCode::kUnavailable, "Too many bytes of answers that nobody has read; try again later");
  }
  if (!stream.request_error.ok()) return stream.request_error;
  // What was answered may not be all that there was.
  if (!absl::IsCancelled(status) && !(status.ok() && stream.has_lost_message)) return status;
  // It was not the client that gave the call up, and it may try again elsewhere, or here after a while.
  if (stream.is_ending) return MakeStatus(absl::StatusCode::kUnavailable, "The server ends");
  if (stream.deadline.has_value() && std::chrono::steady_clock::now() >= *stream.deadline) {
    return MakeStatus(absl::StatusCode::kDeadlineExceeded, "The call's deadline has passed");
  }
  return status.ok() ? MakeStatus(absl::StatusCode::kCancelled, "The client reads no more") : status;
}

}  // namespace

// ---- what nghttp2 calls while bytes go in and out; the connection's lock is held ----

struct Http2Connection::Callbacks {
  static Http2Connection* Of(void* user) { return static_cast<Http2Connection*>(user); }

  static Http2Stream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Http2Connection* const connection = Of(user);
    const int32_t id = frame->hd.stream_id;
    auto stream = std::make_shared<Http2Stream>(id, connection->host_.message_bytes_max());
    nghttp2_session_set_stream_user_data(session, id, stream.get());
    connection->streams_.emplace(id, std::move(stream));
    return 0;
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes, const uint8_t* value,
                      size_t value_bytes, uint8_t /*flags*/, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;  // trailers: the call may run, and what it looks at is constant then
    Http2Stream* const stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->header_bytes += name_bytes + value_bytes;
    if (stream->header_bytes > Http2Connection::kHeaderBytesMax) {
      // The client hears why, unless it goes on and on: then the stream is reset.
      return stream->header_bytes > 4 * Http2Connection::kHeaderBytesMax ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : 0;
    }
    TakeHeader(View(name, name_bytes), View(value, value_bytes), Of(user)->host_, stream);
    return 0;
  }

  static void TakeHeader(std::string_view name, std::string_view value, const ConnectionHost& host, Http2Stream* stream) {
    if (name == ":path") {
      stream->path = value.substr(0, Http2Connection::kPathBytesMax);
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
        stream->deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(*timeout);
      }
    } else if (host.IsAskedFor(name)) {
      stream->metadata.emplace_back(name, value);
    }
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Http2Connection* const connection = Of(user);
    if (frame->hd.type == NGHTTP2_SETTINGS) connection->is_greeted_ = true;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Http2Stream* const stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) connection->OnRequestHeaders(stream);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) connection->OnRequestEnd(stream);
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t /*flags*/, int32_t stream_id, const uint8_t* data, size_t bytes, void* user) {
    if (Http2Stream* const stream = StreamOf(session, stream_id); stream != nullptr) Of(user)->OnRequestBytes(stream, View(data, bytes));
    return 0;
  }

  static int OnStreamClose(nghttp2_session* /*session*/, int32_t stream_id, uint32_t /*error*/, void* user) {
    Of(user)->OnStreamClosed(stream_id);
    return 0;
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) Of(user)->is_broken_ = true;
    // An answer that was complete before its request: the client need not send the rest.
    if (frame->hd.type != NGHTTP2_HEADERS || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Http2Stream* const stream = StreamOf(session, frame->hd.stream_id);
    if (stream != nullptr && !stream->request_ended) nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
    return 0;
  }

  static ssize_t ReadAnswer(nghttp2_session* session, int32_t stream_id, uint8_t* buffer, size_t room, uint32_t* flags,
                            nghttp2_data_source* /*source*/, void* user) {
    Http2Stream* const stream = StreamOf(session, stream_id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return Of(user)->TakeUnsent(stream, buffer, room, flags);
  }

  static nghttp2_session* NewSession(Http2Connection* connection) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    nghttp2_session* session = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnStreamClose);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &OnFrameSent);
    if (nghttp2_option_new(&option) == 0) {
      nghttp2_option_set_max_outbound_ack(option, kOutboundFramesMax);
      nghttp2_option_set_no_closed_streams(option, 1);  // they are kept for priorities, which nothing here looks at
      if (nghttp2_session_server_new2(&session, callbacks, connection, option) != 0) session = nullptr;
      nghttp2_option_del(option);
    }
    nghttp2_session_callbacks_del(callbacks);
    return session;
  }
};

// ---- the connection ----

Http2Connection::Http2Connection(std::unique_ptr<Socket> socket, ConnectionHost* host)
    : host_(*host), descriptor_(socket->descriptor()), socket_(std::move(socket)) {
  session_ = Callbacks::NewSession(this);
  if (session_ == nullptr) return;  // OnReady ends it
  const std::array<nghttp2_settings_entry, 3> settings = {{{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
                                                           {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
                                                           {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderBytesMax}}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
}

Http2Connection::~Http2Connection() { nghttp2_session_del(session_); }

Http2Connection::Ready Http2Connection::OnReady(bool is_ending, std::vector<StreamPtr>* begun) {
  std::vector<std::stop_source> stopped;
  bool is_open = true;
  bool is_more = true;
  {
    const std::lock_guard lock(mutex_);
    begun_ = begun;
    for (int reads = 0; is_more && is_open && reads < kReadsMax; ++reads) is_open = ReadSome(is_ending, &is_more);
    is_open = is_open && Flush();
    if (is_open && !IsWanted()) Linger();
    is_open = is_open && !(is_lingering_ && is_broken_);
    begun_ = nullptr;
    stopped.swap(stopped_);
  }
  for (std::stop_source& stop : stopped) stop.request_stop();
  if (!is_open) return Ready::kOver;
  return is_more ? Ready::kMore : Ready::kWaits;
}

// Something may still come or has to go.
bool Http2Connection::IsWanted() const {
  return output_offset_ < output_.size() || nghttp2_session_want_read(session_) != 0 || nghttp2_session_want_write(session_) != 0;
}

bool Http2Connection::ReadSome(bool is_ending, bool* is_more) {
  if (is_closed_ || session_ == nullptr) return false;
  std::array<char, kReadBytes> buffer;  // not thread-local: those lie on every thread's stack, also on a library's small ones
  const Socket::Result read = socket_->Read(buffer);
  // Before its end there may be less than was asked for, and the end is not told again.
  *is_more = read.state == Socket::State::kMoved && (is_ending || !read.is_all);
  if (read.state != Socket::State::kMoved) return read.state == Socket::State::kWait;
  read_at_ = std::chrono::steady_clock::now();
  is_asked_ = false;
  if (is_lingering_) return true;
  const ssize_t taken = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(buffer.data()), read.bytes);
  if (taken < 0) {
    Flush();  // nghttp2 tells the client why
    return false;
  }
  // Whoever makes us answer and reads no answers is cut off; so what can go goes before it is too much.
  if (nghttp2_session_get_outbound_queue_size(session_) <= kOutboundFramesMax / 2) return true;
  return Flush() && nghttp2_session_get_outbound_queue_size(session_) <= kOutboundFramesMax;
}

bool Http2Connection::Flush() {
  if (is_closed_) return false;
  if (is_lingering_) return true;
  while (true) {
    if (output_offset_ == output_.size()) {
      if (!FillOutput()) return false;
      written_at_ = std::chrono::steady_clock::now();
    }
    if (output_.empty()) {
      // A connection that rests keeps no large buffer.
      if (streams_.empty() && output_.capacity() > kRestingBytes) std::string().swap(output_);
      room_.notify_all();
      return true;
    }
    const Socket::Result written = socket_->Write(std::string_view(output_).substr(output_offset_));
    if (written.state != Socket::State::kMoved) return written.state == Socket::State::kWait;
    output_offset_ += written.bytes;
    written_at_ = std::chrono::steady_clock::now();
  }
}

bool Http2Connection::FillOutput() {
  output_.clear();
  output_offset_ = 0;
  while (output_.size() < kOutputBytes) {
    const uint8_t* data = nullptr;
    const ssize_t bytes = nghttp2_session_mem_send(session_, &data);
    if (bytes < 0) return false;
    if (bytes == 0) break;
    output_.append(View(data, static_cast<size_t>(bytes)));
  }
  return true;
}

// Of a connection that fails while a call sends: its descriptor tells whoever looks after it.
void Http2Connection::FlushOrShutDown() {
  if (!is_closed_ && !Flush()) socket_->ShutDown();
}

void Http2Connection::Linger() {
  if (!std::exchange(is_lingering_, true)) socket_->EndWriting();
}

void Http2Connection::Drain() {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || is_lingering_ || session_ == nullptr) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR, nullptr, 0);
  FlushOrShutDown();
}

// ---- requests ----

void Http2Connection::OnRequestHeaders(Http2Stream* stream) {
  if (stream->header_bytes > kHeaderBytesMax) {
    stream->metadata.clear();
    return GiveUp(stream, MakeStatus(absl::StatusCode::kResourceExhausted,
                                     fmt::format("Headers of more than {} bytes; send fewer", kHeaderBytesMax)));
  }
  if (!stream->is_post) return Refuse(stream, "405");
  if (!stream->is_grpc) return Refuse(stream, "415");
  size_t kept_bytes = kStreamBytes + stream->path.size();
  for (const auto& [name, value] : stream->metadata) kept_bytes += name.size() + value.size();
  if (!host_.ReserveRequestBytes(kept_bytes)) {
    return GiveUp(stream, MakeStatus(absl::StatusCode::kUnavailable, "Too many bytes of requests at once; try again later"));
  }
  stream->request_bytes = kept_bytes;
  if (stream->has_unknown_encoding) {
    return GiveUp(stream, Unimplemented("grpc-encoding can be identity or gzip here"));
  }
  if (stream->has_bad_timeout) return GiveUp(stream, MakeStatus(absl::StatusCode::kInternal, "grpc-timeout cannot be read"));
  stream->method = host_.FindMethod(stream->path);
  if (stream->method == nullptr) GiveUp(stream, Unimplemented("{} is not offered", stream->path));
}

void Http2Connection::OnRequestBytes(Http2Stream* stream, std::string_view bytes) {
  if (stream->status.has_value()) return;  // answered already
  // What is wrong with the message is told first: a client would try again what is only too much at the moment.
  if (const absl::Status status = stream->request.Add(bytes); !status.ok()) return GiveUp(stream, status);
  if (!host_.ReserveRequestBytes(bytes.size())) {
    return GiveUp(stream, MakeStatus(absl::StatusCode::kUnavailable, "Too many bytes of requests at once; try again later"));
  }
  stream->request_bytes += bytes.size();
  if (stream->request.whole_count() > kWaitingMessagesMax) {
    return GiveUp(stream, MakeStatus(absl::StatusCode::kResourceExhausted, "Too many messages wait on one stream"));
  }
  if (stream->request.whole_count() == 0) {
    const bool is_first = stream->waits_since == std::chrono::steady_clock::time_point();
    stream->paced_bytes += bytes.size();
    if (!is_first && stream->paced_bytes < kPaceBytes) return;
    stream->waits_since = std::chrono::steady_clock::now();
    stream->paced_bytes = 0;
    return;
  }
  BeginCall(stream);
  stream->changed.notify_all();
}

void Http2Connection::OnRequestEnd(Http2Stream* stream) {
  stream->request_ended = true;
  if (stream->status.has_value()) return;
  if (stream->request.IsInside()) return GiveUp(stream, MakeStatus(absl::StatusCode::kInternal, "The request ends inside of a message"));
  BeginCall(stream);
  stream->changed.notify_all();
}

void Http2Connection::GiveUp(Http2Stream* stream, const absl::Status& status) {
  if (!stream->has_begun) {
    host_.OnRefused(stream->path, status.code());
    host_.ReleaseRequestBytes(std::exchange(stream->request_bytes, 0));
    stream->request.Drop();
  }
  Answer(stream, status);
}

// Once a message is whole: before that a thread would only wait.
void Http2Connection::BeginCall(Http2Stream* stream) {
  if (stream->has_begun || begun_ == nullptr) return;
  stream->has_begun = true;
  begun_->push_back(streams_.at(stream->id));
}

void Http2Connection::OnStreamClosed(int32_t stream_id) {
  const auto found = streams_.find(stream_id);
  if (found == streams_.end()) return;
  Http2Stream& stream = *found->second;
  stream.is_closed = true;
  // A method that is done needs no telling.
  if (stream.has_begun && !stream.is_done) stopped_.push_back(stream.stop);
  DropUnsent(&stream);
  room_.notify_all();
  if (!stream.has_begun) host_.ReleaseRequestBytes(std::exchange(stream.request_bytes, 0));
  stream.changed.notify_all();
  ResumeIfDue(&stream);
  streams_.erase(found);
}

// ---- answers ----

bool Http2Connection::Send(Http2Stream* stream, std::string framed, bool is_last) {
  WritePrefix(&framed);
  std::unique_lock lock(mutex_);
  const auto is_free = [stream] { return stream->CanSend(); };
  if (!stream->deadline.has_value()) {
    stream->changed.wait(lock, is_free);
  } else {
    stream->changed.wait_until(lock, *stream->deadline, is_free);
  }
  // While the server ends the last message still goes: what was done is told.
  if (stream->is_closed || (stream->is_ending && !is_last) || stream->has_lost_message || !is_free()) {
    stream->has_lost_message = true;
    return false;
  }
  if (!ChargeAnswer(stream, framed.size())) {
    stream->has_lost_message = true;
    stream->is_beyond_memory = true;
    return false;
  }
  stream->unsent_bytes += framed.size();
  unsent_bytes_ += framed.size();
  stream->unsent.push_back(std::move(framed));
  if (is_last) return true;  // Finish comes at once
  SubmitHeaders(stream);
  FlushOrShutDown();
  return true;
}

bool Http2Connection::Reserve(Http2Stream* stream, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!host_.ReserveRequestBytes(bytes)) return false;
  stream->request_bytes += bytes;
  return true;
}

bool Http2Connection::Receive(Http2Stream* stream, std::string* message) {
  std::string taken;
  bool is_compressed = false;
  {
    std::unique_lock lock(mutex_);
    stream->changed.wait(lock, [stream] { return stream->IsStopped() || stream->request_ended || stream->request.whole_count() > 0; });
    if (!stream->request.Take(&taken, &is_compressed)) return false;
  }
  if (!is_compressed) {
    *message = std::move(taken);
    return true;
  }
  absl::Status unzipped = Unzip(
      taken, host_.message_bytes_max(), [&](size_t bytes) { return Reserve(stream, bytes); }, message);
  if (unzipped.ok()) return true;
  const std::lock_guard lock(mutex_);
  stream->request_error = std::move(unzipped);
  return false;
}

bool Http2Connection::HasMore(const Http2Stream& stream) const {
  const std::lock_guard lock(mutex_);
  return stream.request.whole_count() > 0 || stream.request.IsInside();
}

bool Http2Connection::CanSend(const Http2Stream& stream) const {
  const std::lock_guard lock(mutex_);
  return stream.CanSend();
}

void Http2Connection::Pause(Http2Stream* stream) {
  const std::lock_guard lock(mutex_);
  stream->is_paused = true;
  ResumeIfDue(stream);
}

void Http2Connection::ResumeIfDue(Http2Stream* stream) {
  if (!stream->is_paused || !stream->CanSend()) return;
  stream->is_paused = false;
  host_.OnResumed(stream);
}

bool Http2Connection::ChargeAnswer(Http2Stream* stream, size_t bytes) {
  if (bytes < kChargedBytes) return true;
  const bool fits = unsent_charge_ == 0 || unsent_charge_ + bytes <= host_.connection_answer_bytes_max();
  if (!fits || !host_.ReserveRequestBytes(bytes)) return false;
  unsent_charge_ += bytes;
  stream->unsent_charge += bytes;
  return true;
}

void Http2Connection::DropUnsent(Http2Stream* stream) {
  stream->unsent.clear();
  stream->unsent_offset = 0;
  unsent_bytes_ -= std::exchange(stream->unsent_bytes, 0);
  unsent_charge_ -= stream->unsent_charge;
  host_.ReleaseRequestBytes(std::exchange(stream->unsent_charge, 0));
}

absl::StatusCode Http2Connection::Finish(Http2Stream* stream, const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  host_.ReleaseRequestBytes(std::exchange(stream->request_bytes, 0));
  stream->is_done = true;
  const absl::Status told = StatusToTell(*stream, status);
  if (is_closed_) return told.code();
  Answer(stream, told);
  FlushOrShutDown();
  return told.code();
}

void Http2Connection::Answer(Http2Stream* stream, const absl::Status& status) {
  if (stream->status.has_value() || !streams_.contains(stream->id)) return;
  stream->status = status;
  if (!status.ok() && !stream->response_begun) DropUnsent(stream);
  if (stream->unsent.empty() && !stream->response_begun) return SubmitTrailersOnly(stream);
  SubmitHeaders(stream);
}

void Http2Connection::SubmitHeaders(Http2Stream* stream) {
  if (std::exchange(stream->response_begun, true)) {
    nghttp2_session_resume_data(session_, stream->id);
    return;
  }
  const std::string timing = ServerTiming(*stream);
  const std::array<nghttp2_nv, 4> headers = {ConstantHeader(":status", "200"), ConstantHeader("content-type", "application/grpc"),
                                             AcceptedEncodings(), Header("server-timing", timing)};
  const nghttp2_data_provider provider = {.source = {}, .read_callback = &Callbacks::ReadAnswer};
  nghttp2_submit_response(session_, stream->id, headers.data(), headers.size(), &provider);
}

void Http2Connection::SubmitTrailersOnly(Http2Stream* stream) {
  TransportTrailers more = host_.trailers();
  more.emplace_back("server-timing", ServerTiming(*stream));
  StatusHeaders(*stream->status).With(more, [&](std::span<const nghttp2_nv> headers) {
    return nghttp2_submit_response(session_, stream->id, headers.data(), headers.size(), nullptr);
  });
}

// What is not gRPC is answered as HTTP.
void Http2Connection::Refuse(Http2Stream* stream, const char* http_status) {
  stream->status = Unimplemented("not gRPC");
  const nghttp2_nv header = Header(":status", http_status);
  nghttp2_submit_response(session_, stream->id, &header, 1, nullptr);
}

ssize_t Http2Connection::TakeUnsent(Http2Stream* stream, uint8_t* buffer, size_t room, uint32_t* flags) {
  size_t taken = 0;
  while (taken < room && !stream->unsent.empty()) {
    std::string& message = stream->unsent.front();
    const size_t bytes = std::min(room - taken, message.size() - stream->unsent_offset);
    std::memcpy(buffer + taken, message.data() + stream->unsent_offset, bytes);
    taken += bytes;
    stream->unsent_offset += bytes;
    if (stream->unsent_offset < message.size()) break;
    if (message.size() >= kChargedBytes) {
      host_.ReleaseRequestBytes(message.size());
      stream->unsent_charge -= message.size();
      unsent_charge_ -= message.size();
    }
    stream->unsent.pop_front();
    stream->unsent_offset = 0;
  }
  stream->unsent_bytes -= taken;
  unsent_bytes_ -= taken;
  if (taken > 0) {
    stream->changed.notify_all();
    room_.notify_all();
    ResumeIfDue(stream);
  }
  if (!stream->unsent.empty()) return static_cast<ssize_t>(taken);
  if (stream->status.has_value()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    // The same headers as of an answer that is a status alone, without those that went before.
    StatusHeaders(*stream->status).With(host_.trailers(), [&](std::span<const nghttp2_nv> headers) {
      const std::span<const nghttp2_nv> trailers = headers.subspan(3);
      return nghttp2_submit_trailer(session_, stream->id, trailers.data(), trailers.size());
    });
  } else if (taken == 0) {
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(taken);
}

}  // namespace stele::server
