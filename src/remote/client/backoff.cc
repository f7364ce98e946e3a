#include "remote/client/backoff.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

#include "base/mutex.h"

namespace stele::internal {
namespace {

// gRPC's messages, in lower case, when a connection broke during a call.
constexpr const char* kBrokenConnection[] = {"rst_stream", "rst stream",
                                             "received unexpected eos on data frame from server"};
// Messages of a server that has no thread or no memory for a call, and so has applied nothing:
// those of gRPC and of steled.
constexpr const char* kBusyServer[] = {"Threadpool Exhausted", "; try again later"};

class RealWaiter final : public Waiter {
 public:
  SteadyClock::time_point Now() override { return SteadyClock::now(); }

  bool WaitUntil(SteadyClock::time_point time, const std::stop_token& stop,
                 const std::stop_token& closing) override {
    Mutex mutex;
    CondVar ended;
    const auto end = [&] {
      const MutexLock lock(mutex);  // else the signal could come before the wait
      ended.SignalAll();
    };
    const std::stop_callback on_stop(stop, end);
    const std::stop_callback on_closing(closing, end);
    const MutexLock lock(mutex);
    while (!stop.stop_requested() && !closing.stop_requested()) {
      const SteadyClock::time_point now = SteadyClock::now();
      if (now >= time) return true;
      ended.WaitFor(mutex, time - now);
    }
    return false;
  }
};

}  // namespace

bool IsTransient(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::ABORTED:
      return true;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return std::any_of(std::begin(kBusyServer), std::end(kBusyServer), [&](const char* words) {
        return status.error_message().find(words) != std::string::npos;
      });
    case grpc::StatusCode::INTERNAL: {
      std::string text = status.error_message();
      std::transform(text.begin(), text.end(), text.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return std::any_of(std::begin(kBrokenConnection), std::end(kBrokenConnection),
                         [&](const char* words) { return text.find(words) != std::string::npos; });
    }
    default:
      return false;
  }
}

std::chrono::microseconds Backoff::Next() {
  const int64_t half = pause_.count() / 2;
  const std::chrono::microseconds pause(
      half + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(half) + 1)));
  pause_ = std::min(2 * pause_, kPauseMax);
  return pause;
}

std::shared_ptr<Waiter> SystemWaiter() {
  static const auto* const waiter = new std::shared_ptr<Waiter>(std::make_shared<RealWaiter>());
  return *waiter;
}

}  // namespace stele::internal
