// steled/transport/http2/served_call.h: a call from its acceptance to its end.
//
// Threads:   confined to the thread that runs the call.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "steled/transport/calls/call.h"
#include "steled/transport/calls/exceptions.h"
#include "steled/transport/http2/http2_connection.h"

namespace stele::server {

class ServedCall final : public Call {
 public:
  using ConnectionPtr = std::shared_ptr<Http2Connection>;
  using SteadyClock = std::chrono::steady_clock;

  ServedCall(ConnectionPtr connection, Http2Connection::StreamPtr stream)
      : connection_(std::move(connection)), stream_(std::move(stream)) {}

  const Method* method() const { return stream_->method; }
  const std::string& path() const override { return stream_->path; }
  std::string_view metadata(std::string_view name) const override {
    for (const auto& [known, value] : stream_->metadata) {
      if (known == name) return value;
    }
    return {};
  }
  std::optional<SteadyClock::time_point> deadline() const override { return stream_->deadline; }
  std::stop_token stop() const override { return stream_->stop.get_token(); }

  bool Reserve(size_t bytes) override {
    const bool is_reserved = connection_->Reserve(stream_.get(), bytes);
    if (!is_reserved) SetRefused(RefusalCause::kMemory);
    return is_reserved;
  }
  bool ReserveAnswer(size_t bytes) override {
    const bool is_reserved = connection_->ReserveAnswer(stream_.get(), bytes);
    if (!is_reserved) SetRefused(RefusalCause::kMemory);
    return is_reserved;
  }
  void ReleaseAnswer(size_t bytes) override { connection_->ReleaseAnswer(stream_.get(), bytes); }
  void SetRefused(RefusalCause cause) override { refusal_ = cause; }
  bool Receive(std::string* message) override {
    if (!connection_->Receive(stream_.get(), message)) return false;
    received_bytes_ += message->size();
    return true;
  }
  bool Send(std::string framed, bool is_last) override {
    sent_bytes_ += framed.size() - kPrefixBytes;
    return connection_->Send(stream_.get(), std::move(framed), is_last);
  }
  bool CanSend() const override { return connection_->CanSend(*stream_); }
  bool CanReceive() const override { return connection_->CanReceive(*stream_); }
  void Pause(PauseKind kind, std::shared_ptr<PausedCall> rest) override {
    pause_kind_ = kind;
    rest_ = std::move(rest);
  }
  std::function<void()> Waker() override {
    return [connection = connection_, stream = stream_] { connection->Wake(stream.get()); };
  }

  // Runs the method, or continues it. An exception from a library ends the call, not the server.
  absl::Status Handle() noexcept {
    const std::shared_ptr<PausedCall> rest = std::move(rest_);
    try {
      // The call may have waited for a thread, so its client may be gone.
      if (absl::Status awaited = CheckAwaited(*this); !awaited.ok()) {
        if (rest == nullptr) SetRefused(RefusalCause::kGivenUp);
        return awaited;
      }
      return rest == nullptr ? stream_->method->run(this) : rest->Resume(this);
    } catch (...) {
      rest_ = nullptr;
      return StatusOfException();
    }
  }
  SteadyClock::time_point begin() const { return begin_; }
  void SetBegin(SteadyClock::time_point begin) { begin_ = begin; }
  // True if the method paused the call.
  bool IsPaused() const { return rest_ != nullptr; }
  PauseKind pause_kind() const { return pause_kind_; }
  PausedCall* rest() const { return rest_.get(); }
  // Ends the call. Never throws.
  absl::StatusCode Finish(const absl::Status& status) {
    return connection_->Finish(stream_.get(), status);
  }

  const ConnectionPtr& connection() const { return connection_; }
  const Http2Connection::StreamPtr& stream() const { return stream_; }
  const std::string& peer() const { return connection_->peer(); }
  // Only this thread changes it.
  bool is_beyond_memory() const { return stream_->is_beyond_memory; }
  // The reason why the method did not run; nullopt if it ran.
  std::optional<RefusalCause> refusal() const { return refusal_; }
  size_t received_bytes() const { return received_bytes_; }
  size_t sent_bytes() const { return sent_bytes_; }

 private:
  ConnectionPtr connection_;
  Http2Connection::StreamPtr stream_;
  std::shared_ptr<PausedCall> rest_;  // null: the method must be run, or has ended
  PauseKind pause_kind_ = PauseKind::kNone;
  SteadyClock::time_point begin_;
  std::optional<RefusalCause> refusal_;
  size_t received_bytes_ = 0;
  size_t sent_bytes_ = 0;
};

}  // namespace stele::server
