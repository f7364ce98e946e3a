// Ending a connection: its calls are stopped, it is closed, and its client reads the last
// responses. Ends requests, streams and connections whose client is too slow.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"
#include "steled/transport/http2/http2_connection.h"

namespace stele::server {
namespace {

constexpr std::chrono::milliseconds kDeliveryLook(5);
// The content of the PING that follows the announcement of the end. Its acknowledgement shows that
// the client has read the announcement. Other PINGs contain zeros.
constexpr std::array<uint8_t, 8> kEndPing = {'t', 'h', 'e', ' ', 'e', 'n', 'd', '.'};

// Returns why an incomplete request is given up; null: it is not. A running call is not checked:
// its method waits for the messages, up to its deadline.
const char* SlowReason(const Http2Stream& stream, const Http2Connection::Cutoffs& cutoffs) {
  if (!stream.AwaitsRequest()) return nullptr;
  if (stream.progress_at < cutoffs.progress_since) {
    return stream.request_bytes > 0 ? "The request stopped in its middle"
                                    : "The request has headers and no message";
  }
  return stream.begun_at < cutoffs.begun_since ? "The request takes too long" : nullptr;
}

// Notes when the client reads the stream. Returns true if it reads almost nothing for too long.
bool IsUnread(const Http2Connection::Cutoffs& cutoffs, Http2Connection::Cutoffs::TimePoint now,
              Http2Stream* stream) {
  const size_t unsent = stream->unsent_bytes;
  if (unsent == 0 || unsent > stream->unsent_at_last_read ||
      unsent + Http2Connection::kReadBytesMin <= stream->unsent_at_last_read) {
    stream->unsent_at_last_read = unsent;
    stream->last_read_at = now;
    return false;
  }
  const bool is_charged = stream->UnsentCharge() > 0 || stream->answer_bytes > 0;
  return stream->last_read_at < (is_charged ? cutoffs.charged_since : cutoffs.read_since);
}

}  // namespace

void Http2Connection::FailIfFatal(int result) noexcept {
  if (nghttp2_is_fatal(result) != 0) Fail();
}

void Http2Connection::Fail() noexcept {
  has_failed_ = true;
  room_.notify_all();
  socket_->ShutDown();
}

void Http2Connection::OnStreamClosed(int32_t stream_id) {
  const auto found = streams_.find(stream_id);
  if (found == streams_.end()) return;
  const Http2Stream& stream = *found->second;
  EndStream(found->second.get());
  room_.notify_all();
  // A finished method needs no notification.
  if (stream.has_begun && !stream.is_done) {
    stopped_.insert(streams_.extract(found));
  } else {
    streams_.erase(found);
  }
}

void Http2Connection::EndStream(Http2Stream* stream) {
  stream->is_closed = true;
  DropUnsent(stream);
  size_t bytes = std::exchange(stream->stream_bytes, 0);
  if (!stream->has_begun) bytes += std::exchange(stream->request_bytes, 0);
  host_.memory.Release(bytes, MemoryUse::kRequest);
  Notify(stream);
}

// Needs no memory, like EndCalls and Close, so that a stop works without any.
void Http2Connection::StopClosed() {
  Streams stopped;
  {
    const std::lock_guard lock(mutex_);
    stopped.swap(stopped_);
  }
  for (const auto& [id, stream] : stopped) stream->stop_source.request_stop();
}

void Http2Connection::EndCalls(bool are_all) {
  StreamPtr stream;
  for (int32_t id = 0;;) {
    {
      const std::lock_guard lock(mutex_);
      const auto next = streams_.upper_bound(id);
      if (next == streams_.end()) break;
      std::tie(id, stream) = *next;
      if (!are_all && stream->current_pause != PauseKind::kForMessage) continue;
      stream->is_ending = true;
    }
    stream->stop_source.request_stop();  // first, so that it does not pause again
    const std::lock_guard lock(mutex_);
    Notify(stream.get());
  }
  StopClosed();
}

void Http2Connection::Linger() {
  if (std::exchange(is_lingering_, true)) return;
  socket_->EndWriting();
  room_.notify_all();
}

void Http2Connection::AnnounceEnd() {
  const std::lock_guard lock(mutex_);
  if (!IsUsable()) return;
  FailIfFatal(nghttp2_submit_shutdown_notice(session_));
  FailIfFatal(nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kEndPing.data()));
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
    return is_announcement_read_ || is_closed_ || is_lingering_ || has_failed_ || !has_preface_;
  });
}

void Http2Connection::Drain() {
  {
    const std::lock_guard lock(mutex_);
    if (!IsUsable()) return;
    is_drained_ = true;
    FailIfFatal(nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                                      nghttp2_session_get_last_proc_stream_id(session_),
                                      NGHTTP2_NO_ERROR, nullptr, 0));
    FlushOrShutDown();
  }
  EndCalls(/*are_all=*/false);
}

void Http2Connection::RefuseIncomplete() {
  const std::lock_guard lock(mutex_);
  if (!IsUsable()) return;
  Attempt([&] {
    for (const auto& [id, stream] : streams_) {
      if (stream->AwaitsRequest() && stream->http_refusal == nullptr)
        GiveUp(stream.get(), RefusalCause::kShutdown, Overloaded("The server ends"));
    }
    FlushOrShutDown();
  });
}

void Http2Connection::Close() {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    Completes([&] {
      if (const std::optional<std::string> failure = socket_->HandshakeFailure())
        host_.observer.OnHandshakeFailed(peer_, *failure);
    });
    for (const auto& [id, stream] : streams_) EndStream(stream.get());
    stopped_.merge(streams_);
    room_.notify_all();
    socket_->ShutDown();
  }
  StopClosed();
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

// ---- slow clients ----

bool Http2Connection::IsStalled(const Cutoffs& cutoffs) const {
  if (has_failed_ || (!has_preface_ && since_ < cutoffs.preface_since)) return true;
  if (is_lingering_) return read_at_ < cutoffs.read_since;
  return (output_offset_ < output_.size() && written_at_ < cutoffs.read_since) ||
         (is_ping_unanswered_ && read_at_ < cutoffs.silent_since);
}

bool Http2Connection::EndStalled(const Cutoffs& cutoffs) {
  bool is_kept = true;
  {
    const std::lock_guard lock(mutex_);
    is_kept = is_closed_ || !IsStalled(cutoffs);
    const auto now = std::chrono::steady_clock::now();
    // The buffer of a large answer is not kept while other streams are open and send nothing.
    const bool is_idle = output_.empty() && written_at_ + std::chrono::seconds(1) < now;
    if (is_idle && output_.capacity() > kIdleBufferBytesMax) std::string().swap(output_);
    if (is_kept && IsUsable()) Attempt([&] { EndStalledStreams(cutoffs, now); });
  }
  StopClosed();
  return is_kept;
}

void Http2Connection::EndStalledStreams(const Cutoffs& cutoffs, Cutoffs::TimePoint now) {
  for (const auto& [id, stream] : streams_) {
    if (const char* const reason = SlowReason(*stream, cutoffs)) {
      GiveUp(stream.get(), RefusalCause::kSlowRequest,
             MakeStatus(absl::StatusCode::kUnavailable, reason));
    }
    if (!IsUnread(cutoffs, now, stream.get()) || std::exchange(stream->is_given_up, true)) continue;
    // REFUSED_STREAM promises that nothing was processed (RFC 9113, section 8.7), so clients retry
    // any call after it. A call whose method began may have been applied. With INTERNAL_ERROR
    // Bigtable's clients resume reads, and retry only writes that may be applied twice.
    FailIfFatal(nghttp2_submit_rst_stream(
        session_, NGHTTP2_FLAG_NONE, id,
        stream->has_begun ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_REFUSED_STREAM));
  }
  if (!is_ping_unanswered_ && read_at_ < cutoffs.ping_since) {
    is_ping_unanswered_ = true;
    FailIfFatal(nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr));
  }
  if (nghttp2_session_want_write(session_) != 0) FlushOrShutDown();
}

}  // namespace stele::server
