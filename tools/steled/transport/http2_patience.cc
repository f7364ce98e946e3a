// What a connection ends because its client lets it wait.
#include <utility>

#include "errors.h"
#include "transport/http2_connection.h"

namespace stele::server {

void Http2Connection::GiveUpStalled(std::chrono::steady_clock::time_point since, std::chrono::steady_clock::time_point begun_since) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  bool are_some = false;
  for (const auto& [id, stream] : streams_) {
    // A running call is not checked here: its method waits for the messages, up to its deadline.
    if (stream->has_begun || stream->status.has_value()) continue;
    const bool has_bytes = stream->waits_since != std::chrono::steady_clock::time_point();
    const bool is_paced = !has_bytes || stream->waits_since >= since;
    if (is_paced && stream->begun_at >= begun_since) continue;
    GiveUp(stream.get(),
           MakeStatus(absl::StatusCode::kUnavailable, is_paced ? "The request takes too long" : "The request stopped in its middle"));
    are_some = true;
  }
  if (are_some) FlushOrShutDown();
}

bool Http2Connection::EndUnread(const Patience& patience) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || session_ == nullptr) return true;
  if (is_lingering_) return read_at_ >= patience.since;
  if (output_offset_ < output_.size() && written_at_ < patience.since) return false;
  const auto now = std::chrono::steady_clock::now();
  bool are_some = false;
  for (const auto& [id, stream] : streams_) {
    const size_t unsent = stream->unsent_bytes;
    const bool has_moved = unsent == 0 || unsent + kReadBytesLeast <= stream->unsent_at_mark;
    if (has_moved || unsent > stream->unsent_at_mark) {
      stream->unsent_at_mark = unsent;
      stream->unsent_mark = now;
    } else if (stream->unsent_mark < patience.since && !std::exchange(stream->is_given_up, true)) {
      // As gRPC's clients read it: UNAVAILABLE, so that they take up the read again when they want more.
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
      are_some = true;
    }
  }
  if (is_asked_ && read_at_ < patience.silent_since) return false;
  if (!is_asked_ && read_at_ < patience.ping_since) {
    is_asked_ = true;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    are_some = true;
  }
  if (are_some) FlushOrShutDown();
  return true;
}

}  // namespace stele::server
