// Sending and receiving messages: a method waits or pauses while its client does not read, and
// messages are charged.
#include <utility>

#include "steled/transport/http2/gzip.h"
#include "steled/transport/http2/http2_connection.h"

namespace stele::server {

bool Http2Connection::Send(Http2Stream* stream, std::string framed, bool is_last) {
  WritePrefix(&framed);
  std::unique_lock lock(mutex_);
  const auto is_free = [stream] { return stream->CanSend(); };
  if (!stream->deadline.has_value()) {
    stream->changed.wait(lock, is_free);
  } else {
    stream->changed.wait_until(lock, *stream->deadline, is_free);
  }
  // While the server ends, the last message is still sent, to report the finished work.
  if (stream->is_closed || (stream->is_ending && !is_last) || stream->has_lost_message ||
      !is_free()) {
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
  if (is_last) return true;  // Finish follows at once
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
    stream->changed.wait(lock, [stream] { return stream->CanReceive(); });
    if (!stream->request.Take(&taken, &is_compressed)) return false;
  }
  if (!is_compressed) {
    *message = std::move(taken);
    return true;
  }
  absl::Status unzipped = Unzip(
      taken, host_.message_bytes_max(), [&](size_t bytes) { return Reserve(stream, bytes); },
      message);
  if (unzipped.ok()) return true;
  const std::lock_guard lock(mutex_);
  stream->request_error = std::move(unzipped);
  return false;
}

bool Http2Connection::ChargeAnswer(Http2Stream* stream, size_t bytes) {
  const size_t held = stream->unsent_held + bytes;
  if (held > kSmallAnswerBytes) {
    const size_t more = held - stream->unsent_charge;
    const bool fits =
        unsent_charge_ == 0 || unsent_charge_ + more <= host_.connection_answer_bytes_max();
    if (!fits || !host_.ReserveRequestBytes(more)) return false;
    unsent_charge_ += more;
    stream->unsent_charge += more;
  }
  stream->unsent_held = held;
  return true;
}

bool Http2Connection::CanSend(const Http2Stream& stream) const {
  const std::lock_guard lock(mutex_);
  return stream.CanSend();
}

bool Http2Connection::CanReceive(const Http2Stream& stream) const {
  const std::lock_guard lock(mutex_);
  return stream.CanReceive();
}

void Http2Connection::Pause(Http2Stream* stream, PauseKind kind) {
  const std::lock_guard lock(mutex_);
  stream->pause = kind;
  ResumeIfDue(stream);
}

void Http2Connection::ResumeIfDue(Http2Stream* stream) {
  if (stream->pause == PauseKind::kNone || !stream->IsPauseOver()) return;
  stream->pause = PauseKind::kNone;
  host_.OnResumed(stream);
}

void Http2Connection::DropUnsent(Http2Stream* stream) {
  stream->unsent.clear();
  stream->unsent_offset = 0;
  unsent_bytes_ -= std::exchange(stream->unsent_bytes, 0);
  stream->unsent_held = 0;
  unsent_charge_ -= stream->unsent_charge;
  host_.ReleaseRequestBytes(std::exchange(stream->unsent_charge, 0));
}

void Http2Connection::ReleaseStream(Http2Stream* stream) {
  host_.ReleaseRequestBytes(std::exchange(stream->stream_bytes, 0));
  if (!stream->has_begun) host_.ReleaseRequestBytes(std::exchange(stream->request_bytes, 0));
}

}  // namespace stele::server
