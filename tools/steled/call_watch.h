// steled/call_watch.h: stops the reads of calls that their clients have given up.
//
// gRPC tells a synchronous call only when asked that it was cancelled; a read that scans a table without finding a row never asks. One
// thread asks for all calls.
//
// Threads:   CallWatch is thread-safe; a Watch is confined to its call.
// Cost:      a look at each open call every 20 ms; nothing once there were none for a second.
#pragma once

#include <grpcpp/server_context.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace stele::server {

class CallWatch {
  struct Call {
    grpc::ServerContext* context;
    std::stop_source stop;
  };

 public:
  CallWatch();
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  // As long as it lives its call is looked at.
  class Watch {
   public:
    Watch(CallWatch* owner, grpc::ServerContext* context);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    std::stop_token stop() const { return call_->stop.get_token(); }

   private:
    CallWatch* const owner_;
    std::list<Call>::iterator call_;
  };

 private:
  void Run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Call> calls_;    // guarded by mutex_
  bool is_waiting_ = false;  // likewise: the thread has to be woken
  std::jthread thread_;
};

// When the client stops waiting; none: never.
std::optional<std::chrono::steady_clock::time_point> DeadlineOf(const grpc::ServerContext& context);

}  // namespace stele::server
