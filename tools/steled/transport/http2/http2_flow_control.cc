// The flow control of a connection: its memory for requests and responses, and when a call may send
// or must pause.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "steled/transport/http2/http2_connection.h"

namespace stele::server {
namespace {

constexpr size_t kUsualMessageBytes = 2 * kUnsentBytesMax;

// True if a connection may hold so many bytes of unread responses: as much as is left for others.
// The last eighth is for connections that hold little, so that a few slow clients cannot keep out
// the others.
bool IsInShare(size_t bytes, const RequestMemory& memory) {
  const size_t most = memory.answer_bytes_max();
  constexpr size_t kLittleShare = 256;
  constexpr size_t kKeptShare = 8;
  return bytes <= most / kLittleShare || bytes + most / kKeptShare <= memory.answer_bytes_left();
}

}  // namespace

bool Http2Connection::Reserve(Http2Stream* stream, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!host_.memory.Reserve(bytes, MemoryUse::kRequest)) return false;
  stream->request_bytes += bytes;
  return true;
}

bool Http2Connection::ChargeRequest(Http2Stream* stream, size_t bytes) {
  MemoryUse use = MemoryUse::kRequest;
  if (stream->request_bytes + bytes <= kSmallRequestBytes)
    use = stream->method->uses_all_memory ? MemoryUse::kHealth : MemoryUse::kSmall;
  if (!host_.memory.Reserve(bytes, use)) return false;
  stream->request_bytes += bytes;
  return true;
}

bool Http2Connection::ReserveUnread(size_t bytes) {
  if (bytes == 0) return true;
  if (!IsInShare(unread_charge_ + bytes, host_.memory) ||
      !host_.memory.Reserve(bytes, MemoryUse::kAnswer))
    return false;
  unread_charge_ += bytes;
  return true;
}

void Http2Connection::ReleaseUnread(size_t bytes) {
  unread_charge_ -= bytes;
  host_.memory.Release(bytes, MemoryUse::kAnswer);
}

// While memory is scarce, a call sends its next message only once the client has read all before.
bool Http2Connection::HasRoom(const Http2Stream& stream) const {
  if (stream.IsStopped() || stream.unsent_bytes == 0) return true;
  return stream.unsent_bytes <= kUnsentBytesMax &&
         IsInShare(unread_charge_ + kUsualMessageBytes, host_.memory);
}

bool Http2Connection::IsPauseOver(const Http2Stream& stream) const {
  if (stream.current_pause == PauseKind::kForEvent) return stream.is_woken || stream.IsStopped();
  return stream.current_pause == PauseKind::kForRoom ? HasRoom(stream) : stream.HasReceived();
}

void Http2Connection::BeginPause(Http2Stream* stream, PauseKind kind) {
  {
    const std::lock_guard lock(mutex_);
    const size_t held = stream->request.held_bytes();
    // Messages that the method has handled are not charged any more.
    if (stream->method->takes_stream && stream->request_bytes > held) {
      host_.memory.Release(std::exchange(stream->request_bytes, held) - held, MemoryUse::kRequest);
    }
    stream->current_pause = kind;
    // As in Drain, for a call that was running then.
    if (is_drained_ && kind == PauseKind::kForMessage) stream->is_ending = true;
    if (!stream->IsStopped()) return Notify(stream);
  }
  stream->stop_source.request_stop();  // first, so that it does not pause again
  const std::lock_guard lock(mutex_);
  Notify(stream);
}

void Http2Connection::NoteProgress(Http2Stream* stream, size_t bytes) {
  const bool is_first = stream->request_bytes == bytes;
  const size_t least = std::max(kProgressBytesMin, stream->request_bytes / kProgressShare);
  stream->bytes_since_progress += bytes;
  if (!is_first && stream->bytes_since_progress < least) return;
  stream->progress_at = std::chrono::steady_clock::now();
  stream->bytes_since_progress = 0;
}

void Http2Connection::Notify(Http2Stream* stream) {
  stream->changed.notify_all();
  if (stream->current_pause == PauseKind::kNone || !IsPauseOver(*stream)) return;
  stream->current_pause = PauseKind::kNone;
  stream->is_woken = false;
  host_.resume(stream);
}

void Http2Connection::DropUnsent(Http2Stream* stream) {
  ReleaseUnread(stream->UnsentCharge());
  stream->unsent.clear();
  stream->unsent_offset = 0;
  unsent_bytes_ -= std::exchange(stream->unsent_bytes, 0);
}

}  // namespace stele::server
