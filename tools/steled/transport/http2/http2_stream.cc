// The functions of Call that a method uses, and the run of a method.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "steled/transport/http2/http2_connection.h"

namespace stele::server {

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
  const std::shared_ptr<PausedCall> paused = std::move(continuation);
  try {
    // The call may have waited for a thread, so its client may be gone.
    if (absl::Status awaited = CheckAwaited(*this); !awaited.ok()) {
      if (paused == nullptr) SetRefused(RefusalCause::kGivenUp);
      return awaited;
    }
    return paused == nullptr ? method->run(this) : paused->Resume(this);
  } catch (...) {
    continuation = nullptr;
    return StatusOfException();
  }
}

}  // namespace stele::server
