// How a connection ends: its calls are stopped, it is closed, and its client reads what was answered.
#include <utility>
#include <vector>

#include "transport/http2_connection.h"

namespace stele::server {
namespace {

constexpr std::chrono::milliseconds kDeliveryLook(5);

}  // namespace

void Http2Connection::StopCalls() {
  std::vector<std::stop_source> stopped;
  {
    const std::lock_guard lock(mutex_);
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
    for (const auto& [id, stream] : streams_) {
      if (!stream->has_begun) host_.ReleaseRequestBytes(std::exchange(stream->request_bytes, 0));
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

void Http2Connection::AwaitRead(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  room_.wait_until(lock, end, [this] { return is_closed_ || (unsent_bytes_ == 0 && output_offset_ == output_.size()); });
  // Nothing tells when the system has sent what it took.
  while (!is_closed_ && socket_->UndeliveredBytes() > 0 && std::chrono::steady_clock::now() < end) room_.wait_for(lock, kDeliveryLook);
}

}  // namespace stele::server
