// Ending a connection: its calls are stopped, it is closed, and its client reads the last
// responses.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "steled/transport/calls/overload.h"
#include "steled/transport/http2/http2_connection.h"

namespace stele::server {
namespace {

constexpr std::chrono::milliseconds kDeliveryLook(5);
// The content of the PING that follows the announcement of the end. Its acknowledgement shows that
// the client has read the announcement. Other PINGs contain zeros.
constexpr std::array<uint8_t, 8> kEndPing = {'t', 'h', 'e', ' ', 'e', 'n', 'd', '.'};

}  // namespace

void Http2Connection::FailIfFatal(int result) noexcept {
  if (nghttp2_is_fatal(result) != 0) Fail();
}

void Http2Connection::Fail() noexcept {
  has_failed_ = true;
  socket_->ShutDown();
}

void Http2Connection::RequestStop(const Streams& streams) {
  for (const auto& [id, stream] : streams) stream->stop.request_stop();
}

void Http2Connection::OnStreamClosed(int32_t stream_id) {
  const auto found = streams_.find(stream_id);
  if (found == streams_.end()) return;
  Http2Stream& stream = *found->second;
  stream.is_closed = true;
  DropUnsent(&stream);
  room_.notify_all();
  ReleaseStream(&stream);
  Notify(&stream);
  // A finished method needs no notification.
  if (stream.has_begun && !stream.is_done) {
    stopped_.insert(streams_.extract(found));
  } else {
    streams_.erase(found);
  }
}

void Http2Connection::Linger() {
  if (std::exchange(is_lingering_, true)) return;
  socket_->EndWriting();
  room_.notify_all();
}

void Http2Connection::AnnounceEnd() {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || is_lingering_ || session_ == nullptr) return;
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kEndPing.data());
  FlushOrShutDown();
}

void Http2Connection::OnPing(const nghttp2_ping& ping) {
  if ((ping.hd.flags & NGHTTP2_FLAG_ACK) == 0) return;
  if (!std::equal(kEndPing.begin(), kEndPing.end(), std::begin(ping.opaque_data))) return;
  is_announcement_read_ = true;
  room_.notify_all();
}

void Http2Connection::AwaitAnnounced(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  room_.wait_until(lock, end, [this] {
    // A client that has not sent the preface yet has begun no call.
    return is_announcement_read_ || is_closed_ || is_lingering_ || !is_greeted_;
  });
}

void Http2Connection::Drain() {
  Streams stopped;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || is_lingering_ || session_ == nullptr) return;
    Attempt([&] {
      for (const auto& [id, stream] : streams_) {
        if (stream->pause != PauseKind::kForMessage) continue;
        stopped.emplace(id, stream);
        stream->is_ending = true;
      }
    });
    SubmitLastGoaway();
  }
  RequestStop(stopped);
  const std::lock_guard lock(mutex_);
  for (const auto& [id, stream] : streams_) Notify(stream.get());
}

void Http2Connection::SubmitLastGoaway() {
  is_drained_ = true;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  FlushOrShutDown();
}

void Http2Connection::RefuseIncomplete() {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || is_lingering_ || session_ == nullptr) return;
  Attempt([&] {
    for (const auto& [id, stream] : streams_) {
      if (stream->has_begun || stream->status.has_value() || stream->http_refusal != nullptr)
        continue;
      GiveUp(stream.get(), RefusalCause::kShutdown, Overloaded("The server ends"));
    }
    FlushOrShutDown();
  });
}

void Http2Connection::StopCalls() {
  Streams stopped;
  bool has_all = false;
  {
    const std::lock_guard lock(mutex_);
    has_all = Completes([&] { stopped = streams_; });
    stopped.merge(stopped_);
    for (const auto& [id, stream] : streams_) {
      stream->is_ending = true;
      Notify(stream.get());
    }
    room_.notify_all();
  }
  RequestStop(stopped);
  // Without memory for the copy. This stops them all, even if no thread waits for events.
  if (!has_all) Close();
}

// Needs no memory, so that it works without any.
void Http2Connection::Close() {
  Streams stopped;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    stopped.swap(stopped_);
    Completes([&] {
      if (const std::optional<std::string> failure = socket_->HandshakeFailure())
        host_.OnHandshakeFailed(peer_, *failure);
    });
    for (const auto& [id, stream] : streams_) {
      ReleaseStream(stream.get());
      stream->is_closed = true;
      DropUnsent(stream.get());
      Notify(stream.get());
    }
    stopped.merge(streams_);
    room_.notify_all();
    socket_->ShutDown();
  }
  RequestStop(stopped);
}

void Http2Connection::StopCallsOfClosedStreams() {
  Streams stopped;
  {
    const std::lock_guard lock(mutex_);
    stopped.swap(stopped_);
  }
  RequestStop(stopped);
}

size_t Http2Connection::StreamCount() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

void Http2Connection::AwaitRead(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  const auto is_running = [](const auto& stream) {
    return stream.second->has_begun && !stream.second->status.has_value();
  };
  room_.wait_until(lock, end, [&] {
    return is_closed_ || (unsent_bytes_ == 0 && output_offset_ == output_.size() &&
                          std::none_of(streams_.begin(), streams_.end(), is_running));
  });
  // There is no notification when the system has sent the bytes that it took.
  while (!is_closed_ && socket_->UndeliveredBytes() > 0 && std::chrono::steady_clock::now() < end)
    room_.wait_for(lock, kDeliveryLook);
}

}  // namespace stele::server
