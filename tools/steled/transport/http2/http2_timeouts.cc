// Timeouts: ends requests, streams and connections whose client is too slow.
#include <utility>

#include "steled/base/errors.h"
#include "steled/transport/http2/http2_connection.h"

namespace stele::server {
namespace {

// REFUSED_STREAM promises that nothing was processed (RFC 9113, section 8.7), so clients retry any
// call after it. A call whose method began may have been applied. With INTERNAL_ERROR Bigtable's
// clients resume reads, and retry only writes that may be applied twice.
uint32_t UnreadCode(const Http2Stream& stream) {
  return stream.has_begun ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_REFUSED_STREAM;
}

// True if it holds memory that others need while memory is scarce.
bool IsCharged(const Http2Stream& stream) {
  return stream.UnsentCharge() > 0 || stream.answer_bytes > 0;
}

}  // namespace

void Http2Connection::GiveUpStalled(std::chrono::steady_clock::time_point since,
                                    std::chrono::steady_clock::time_point begun_since) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  Attempt([&] {
    bool are_some = false;
    for (const auto& [id, stream] : streams_) {
      // A running call is not checked here: its method waits for the messages, up to its deadline.
      if (stream->has_begun || stream->status.has_value()) continue;
      const bool has_bytes = stream->waits_since != std::chrono::steady_clock::time_point();
      const auto moved_at = has_bytes ? stream->waits_since : stream->begun_at;
      const bool is_paced = moved_at >= since;
      if (is_paced && stream->begun_at >= begun_since) continue;
      const char* const reason = is_paced    ? "The request takes too long"
                                 : has_bytes ? "The request stopped in its middle"
                                             : "The request has headers and no message";
      const absl::Status status = MakeStatus(absl::StatusCode::kUnavailable, reason);
      GiveUp(stream.get(), RefusalCause::kSlowRequest, status);
      are_some = true;
    }
    if (are_some) FlushOrShutDown();
  });
}

bool Http2Connection::EndUnread(const Cutoffs& cutoffs) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || session_ == nullptr) return true;
  if (is_lingering_) return read_at_ >= cutoffs.since;
  if (output_offset_ < output_.size() && written_at_ < cutoffs.since) return false;
  const auto now = std::chrono::steady_clock::now();
  // The buffer of a large answer is not kept while other streams are open and send nothing.
  const bool rests = output_.empty() && written_at_ + std::chrono::seconds(1) < now;
  if (rests && output_.capacity() > kRestingBytes) std::string().swap(output_);
  bool are_some = false;
  for (const auto& [id, stream] : streams_) {
    const size_t unsent = stream->unsent_bytes;
    const bool has_moved = unsent == 0 || unsent + kReadBytesMin <= stream->unsent_at_mark;
    if (has_moved || unsent > stream->unsent_at_mark) {
      stream->unsent_at_mark = unsent;
      stream->unsent_mark = now;
    } else if (stream->unsent_mark < (IsCharged(*stream) ? cutoffs.unread_since : cutoffs.since) &&
               !std::exchange(stream->is_given_up, true)) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, UnreadCode(*stream));
      are_some = true;
    }
  }
  if (is_asked_ && read_at_ < cutoffs.silent_since) return false;
  if (!is_asked_ && read_at_ < cutoffs.ping_since) {
    is_asked_ = true;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    are_some = true;
  }
  if (are_some) FlushOrShutDown();
  return true;
}

}  // namespace stele::server
