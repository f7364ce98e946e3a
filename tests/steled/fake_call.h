// steled/fake_call.h: a call without a connection: the test provides requests and inspects
// responses.
//
// Threads:   thread-safe, so that a test may observe a method on another thread.
#pragma once

#include <google/protobuf/message_lite.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "steled/transport/calls/call.h"

namespace stele::server {

class FakeCall final : public Call {
 public:
  FakeCall() = default;
  // Creates a call with one request.
  explicit FakeCall(const google::protobuf::MessageLite& request) {
    Give(request.SerializeAsString());
  }

  void Give(std::string message) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(message));
  }
  // From now on no client listens.
  void Hang() {
    const std::lock_guard lock(mutex_);
    listens_ = false;
  }
  void Cancel() { stop_.request_stop(); }
  // The next Reserve, ReserveAnswer or Send throws, as it does without memory.
  void ThrowOnce() { throws_ = true; }

  // Waits for response number `index`, from 0, and parses it.
  template <typename Message>
  Message Answer(size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answers_.size() > index; });
    Message message;
    EXPECT_TRUE(message.ParseFromString(answers_[index].substr(kPrefixBytes)));
    return message;
  }
  size_t answer_count() const {
    const std::lock_guard lock(mutex_);
    return answers_.size();
  }
  // The number of the response that was sent as the last one; nullopt: none was.
  std::optional<size_t> last_index() const {
    const std::lock_guard lock(mutex_);
    return last_index_;
  }

  const std::string& path() const override { return path_; }
  std::string_view metadata(std::string_view /*name*/) const override { return {}; }
  std::optional<std::chrono::steady_clock::time_point> deadline() const override {
    return std::nullopt;
  }
  std::stop_token stop() const override { return stop_.get_token(); }

  bool Reserve(size_t bytes) override {
    ThrowIfAsked();
    reserved_bytes_ += bytes;
    most_reserved_bytes_ = std::max(most_reserved_bytes_, reserved_bytes_);
    return reserved_bytes_ <= bytes_max_;
  }
  bool ReserveAnswer(size_t bytes) override { return Reserve(bytes); }
  void ReleaseAnswer(size_t bytes) override { reserved_bytes_ -= bytes; }
  void SetRefused(RefusalCause cause) override { refusal_ = cause; }
  std::optional<RefusalCause> refusal() const { return refusal_; }
  void SetBytesMax(size_t bytes_max) { bytes_max_ = bytes_max; }
  size_t reserved_bytes() const { return reserved_bytes_; }
  size_t most_reserved_bytes() const { return most_reserved_bytes_; }

  bool Receive(std::string* message) override {
    const std::lock_guard lock(mutex_);
    if (requests_.empty()) return false;
    *message = std::move(requests_.front());
    requests_.pop_front();
    return true;
  }

  bool CanSend() const override {
    const std::lock_guard lock(mutex_);
    return !listens_ || answers_.size() < room_;
  }
  bool CanReceive() const override {
    const std::lock_guard lock(mutex_);
    return !requests_.empty() || !is_request_open_;
  }
  // From now on Receive would wait if there is no message.
  void KeepRequestOpen() {
    const std::lock_guard lock(mutex_);
    is_request_open_ = true;
  }
  void Pause(PauseKind kind, std::shared_ptr<PausedCall> continuation) override {
    pause_kind_ = kind;
    continuation_ = std::move(continuation);
  }
  PauseKind pause_kind() const { return pause_kind_; }
  std::function<void()> Waker() override {
    return [this] {
      const std::lock_guard lock(mutex_);
      is_woken_ = true;
      changed_.notify_all();
    };
  }
  // Waits until a Waker is called, unless one was called since the last AwaitWake.
  void AwaitWake() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_woken_; });
    is_woken_ = false;
  }
  bool is_woken() const {
    const std::lock_guard lock(mutex_);
    return is_woken_;
  }
  // This many responses can be sent without waiting.
  void SetRoom(size_t answer_count) {
    const std::lock_guard lock(mutex_);
    room_ = answer_count;
  }
  // Returns the paused call; null: the method did not pause the call.
  std::shared_ptr<PausedCall> TakeContinuation() { return std::move(continuation_); }

  bool Send(std::string framed, bool is_last) override {
    ThrowIfAsked();
    const std::lock_guard lock(mutex_);
    if (!listens_) return false;
    EXPECT_FALSE(last_index_.has_value()) << "an answer after the last";
    EXPECT_GE(framed.size(), kPrefixBytes);
    if (is_last) last_index_ = answers_.size();
    answers_.push_back(std::move(framed));
    changed_.notify_all();
    return true;
  }

 private:
  void ThrowIfAsked() {
    if (throws_.exchange(false)) throw std::bad_alloc();
  }

  const std::string path_ = "/package.Service/Method";
  std::stop_source stop_;
  std::atomic<bool> throws_ = false;
  std::optional<RefusalCause> refusal_;
  size_t reserved_bytes_ = 0;
  size_t most_reserved_bytes_ = 0;
  size_t bytes_max_ = std::numeric_limits<size_t>::max();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<PausedCall> continuation_;
  PauseKind pause_kind_ = PauseKind::kNone;
  size_t room_ = std::numeric_limits<size_t>::max();  // guarded by mutex_
  bool listens_ = true;                               // guarded by mutex_
  bool is_request_open_ = false;                      // likewise
  bool is_woken_ = false;                             // likewise
  std::deque<std::string> requests_;                  // likewise
  std::vector<std::string> answers_;                  // likewise
  std::optional<size_t> last_index_;                  // likewise
};

}  // namespace stele::server
