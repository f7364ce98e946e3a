#include "call_watch.h"

namespace stele::server {
namespace {

constexpr std::chrono::milliseconds kInterval(20);
// Looks without a call to look at before the thread waits to be woken: calls that come one after the other do not wake it each time.
constexpr int kIdleLooksMax = 50;

}  // namespace

CallWatch::CallWatch() : thread_([this](const std::stop_token& stop) { Run(stop); }) {}

CallWatch::~CallWatch() = default;

CallWatch::Watch::Watch(CallWatch* owner, grpc::ServerContext* context) : owner_(owner) {
  const std::lock_guard lock(owner_->mutex_);
  call_ = owner_->calls_.insert(owner_->calls_.end(), Call{context, std::stop_source()});
  if (owner_->is_waiting_) owner_->changed_.notify_all();
}

CallWatch::Watch::~Watch() {
  const std::lock_guard lock(owner_->mutex_);
  owner_->calls_.erase(call_);
}

void CallWatch::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (int idle_looks = 0; !stop.stop_requested(); ++idle_looks) {
    if (!calls_.empty()) idle_looks = 0;
    for (Call& call : calls_) {
      if (call.context->IsCancelled()) call.stop.request_stop();
    }
    is_waiting_ = idle_looks >= kIdleLooksMax;
    if (is_waiting_) {
      changed_.wait(lock, stop, [this] { return !calls_.empty(); });
      is_waiting_ = false;
    } else {
      changed_.wait_for(lock, stop, kInterval, [] { return false; });
    }
  }
}

std::optional<std::chrono::steady_clock::time_point> DeadlineOf(const grpc::ServerContext& context) {
  const std::chrono::system_clock::time_point deadline = context.deadline();
  const auto left = deadline - std::chrono::system_clock::now();
  // No deadline is one at the end of time.
  if (deadline == std::chrono::system_clock::time_point::max() || left > std::chrono::hours(24 * 365)) return std::nullopt;
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(left);
}

}  // namespace stele::server
