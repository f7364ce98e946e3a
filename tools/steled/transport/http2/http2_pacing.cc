// The functions of a call, and what they need of its connection: a method waits or pauses while its
// client does not read, and messages are charged.
#include <algorithm>
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

bool Http2Stream::Send(std::string framed, bool is_last) {
  sent_bytes += framed.size() - kPrefixBytes;
  WritePrefix(&framed);
  std::unique_lock lock(connection.mutex_);
  const auto is_free = [this] { return connection.HasRoom(*this); };
  if (!due_at.has_value()) {
    changed.wait(lock, is_free);
  } else {
    changed.wait_until(lock, *due_at, is_free);
  }
  // While the server ends, the last message is still sent, to report the finished work.
  if (is_closed || (is_ending && !is_last) || has_lost_message || !is_free()) {
    has_lost_message = true;
    return false;
  }
  const size_t bytes = framed.size();
  unsent.push_back(std::move(framed));  // may throw, so before the charge
  if (!connection.ReserveUnread(UnsentCharge(bytes) - UnsentCharge())) {
    unsent.pop_back();
    has_lost_message = true;
    is_beyond_memory = true;
    return false;
  }
  unsent_bytes += bytes;
  connection.unsent_bytes_ += bytes;
  if (is_last) return true;  // Finish follows at once
  connection.SubmitHeaders(this);
  connection.FlushOrShutDown();
  return true;
}

bool Http2Stream::Reserve(size_t bytes) {
  const bool is_reserved = connection.Reserve(this, bytes);
  if (!is_reserved) SetRefused(RefusalCause::kMemory);
  return is_reserved;
}

bool Http2Stream::ReserveAnswer(size_t bytes) {
  const std::lock_guard lock(connection.mutex_);
  if (!connection.ReserveUnread(bytes)) {
    SetRefused(RefusalCause::kMemory);
    return false;
  }
  answer_bytes += bytes;
  return true;
}

void Http2Stream::ReleaseAnswer(size_t bytes) {
  const std::lock_guard lock(connection.mutex_);
  answer_bytes -= bytes;
  connection.ReleaseUnread(bytes);
}

bool Http2Stream::Receive(std::string* message) {
  std::string taken;
  bool is_compressed = false;
  {
    std::unique_lock lock(connection.mutex_);
    changed.wait(lock, [this] { return HasReceived(); });
    if (!request.Take(&taken, &is_compressed)) {
      if (!request_ended) has_lost_message = true;
      return false;
    }
  }
  if (!is_compressed) {
    *message = std::move(taken);
  } else {
    absl::Status unzipped = Unzip(
        taken, request.message_bytes_max(),
        [this](size_t bytes) { return connection.Reserve(this, bytes); }, message);
    if (!unzipped.ok()) {
      const std::lock_guard lock(connection.mutex_);
      request_error = std::move(unzipped);
      return false;
    }
  }
  received_bytes += message->size();
  return true;
}

bool Http2Stream::CanSend() const {
  const std::lock_guard lock(connection.mutex_);
  return connection.HasRoom(*this);
}

bool Http2Stream::CanReceive() const {
  const std::lock_guard lock(connection.mutex_);
  return HasReceived();
}

std::function<void()> Http2Stream::Waker() {
  return [held = connection.shared_from_this(), stream = shared_from_this()] {
    const std::lock_guard lock(held->mutex_);
    stream->is_woken = true;
    held->Notify(stream.get());
  };
}

absl::Status Http2Stream::Handle() noexcept {
  const std::shared_ptr<PausedCall> paused = std::move(rest);
  try {
    // The call may have waited for a thread, so its client may be gone.
    if (absl::Status awaited = CheckAwaited(*this); !awaited.ok()) {
      if (paused == nullptr) SetRefused(RefusalCause::kGivenUp);
      return awaited;
    }
    return paused == nullptr ? method->run(this) : paused->Resume(this);
  } catch (...) {
    rest = nullptr;
    return StatusOfException();
  }
}

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
  if (stream.pause == PauseKind::kForEvent) return stream.is_woken || stream.IsStopped();
  return stream.pause == PauseKind::kForRoom ? HasRoom(stream) : stream.HasReceived();
}

void Http2Connection::BeginPause(Http2Stream* stream, PauseKind kind) {
  {
    const std::lock_guard lock(mutex_);
    const size_t held = stream->request.held_bytes();
    // Messages that the method has handled are not charged any more.
    if (stream->method->takes_stream && stream->request_bytes > held) {
      host_.memory.Release(std::exchange(stream->request_bytes, held) - held, MemoryUse::kRequest);
    }
    stream->pause = kind;
    // As in Drain, for a call that was running then.
    if (is_drained_ && kind == PauseKind::kForMessage) stream->is_ending = true;
    if (!stream->IsStopped()) return Notify(stream);
  }
  stream->stop_source.request_stop();  // first, so that it does not pause again
  const std::lock_guard lock(mutex_);
  Notify(stream);
}

void Http2Connection::NotePace(Http2Stream* stream, size_t bytes) {
  const bool is_first = stream->request_bytes == bytes;
  const size_t least = std::max(kPaceBytes, stream->request_bytes / kPaceShare);
  stream->paced_bytes += bytes;
  if (!is_first && stream->paced_bytes < least) return;
  stream->moved_at = std::chrono::steady_clock::now();
  stream->paced_bytes = 0;
}

void Http2Connection::Notify(Http2Stream* stream) {
  stream->changed.notify_all();
  if (stream->pause == PauseKind::kNone || !IsPauseOver(*stream)) return;
  stream->pause = PauseKind::kNone;
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
