// Ending a connection: its calls are stopped, it is closed, and its client reads the last
// responses.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steled/transport/http2/http2_connection.h"

namespace stele::server {
namespace {

constexpr std::chrono::milliseconds kDeliveryLook(5);

}  // namespace

void Http2Connection::Linger() {
  if (!std::exchange(is_lingering_, true)) socket_->EndWriting();
}

void Http2Connection::Drain() {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || is_lingering_ || session_ == nullptr) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  FlushOrShutDown();
}

void Http2Connection::StopCalls() {
  std::vector<std::stop_source> stopped;
  {
    const std::lock_guard lock(mutex_);
    stopped.swap(stopped_);
    for (const auto& [id, stream] : streams_) {
      stopped.push_back(stream->stop);
      stream->is_ending = true;
      stream->changed.notify_all();
      ResumeIfDue(stream.get());
    }
    room_.notify_all();
  }
  for (std::stop_source& stop : stopped) stop.request_stop();
}

void Http2Connection::Close() {
  std::vector<std::stop_source> stopped;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    stopped.swap(stopped_);
    if (const std::optional<std::string> failure = socket_->HandshakeFailure())
      host_.OnHandshakeFailed(peer_, *failure);
    for (const auto& [id, stream] : streams_) {
      ReleaseStream(stream.get());
      stream->is_closed = true;
      stopped.push_back(stream->stop);
      stream->changed.notify_all();
      DropUnsent(stream.get());
      ResumeIfDue(stream.get());
    }
    streams_.clear();
    room_.notify_all();
    socket_->ShutDown();
  }
  for (std::stop_source& stop : stopped) stop.request_stop();
}

void Http2Connection::StopCallsOfClosedStreams() {
  std::vector<std::stop_source> stopped;
  {
    const std::lock_guard lock(mutex_);
    stopped.swap(stopped_);
  }
  for (std::stop_source& stop : stopped) stop.request_stop();
}

size_t Http2Connection::StreamCount() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

void Http2Connection::AwaitRead(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  room_.wait_until(lock, end, [this] {
    return is_closed_ || (unsent_bytes_ == 0 && output_offset_ == output_.size());
  });
  // There is no notification when the system has sent the bytes that it took.
  while (!is_closed_ && socket_->UndeliveredBytes() > 0 && std::chrono::steady_clock::now() < end)
    room_.wait_for(lock, kDeliveryLook);
}

}  // namespace stele::server
