// steled/transport/transport_fixture.h: a transport with methods for tests, and an observer that
// counts calls.
//
// Threads:   the methods run on the transport's threads.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "steled/transport/http2/http2_connection.h"
#include "steled/transport/http2_client.h"
#include "steled/transport/transport.h"

namespace stele::server {

using Answer = Http2Client::Answer;

class CallCounter final : public CallObserver {
 public:
  void OnBegin(const std::string& /*path*/) override { begun_.fetch_add(1); }
  void OnEnd(const EndedCall& call) override { Add(call.path, call.code); }
  void OnRefused(const RefusedCall& call) override {
    refused_.fetch_add(1);
    {
      const std::lock_guard lock(mutex_);
      ++causes_[call.cause];
    }
    Add(call.path, call.code);
  }
  void OnConnectionRefused(const std::string& /*peer*/) override {
    refused_connections_.fetch_add(1);
  }
  void OnHandshakeFailed(const std::string& peer, std::string_view reason) override {
    const std::lock_guard lock(mutex_);
    failures_.push_back(peer + " " + std::string(reason));
    changed_.notify_all();
  }

  // Waits until `count` calls have ended with this code, or were refused.
  void Await(const std::string& path, absl::StatusCode code, int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_[{path, code}] >= count; });
  }
  // Waits for the next failed handshake: "PEER REASON".
  std::string NextFailure() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !failures_.empty(); });
    std::string failure = failures_.front();
    failures_.pop_front();
    return failure;
  }
  int refused_for(RefusalCause cause) {
    const std::lock_guard lock(mutex_);
    return causes_[cause];
  }
  int refused_connections() const { return refused_connections_.load(); }
  int begun() const { return begun_.load(); }
  int refused() const { return refused_.load(); }

 private:
  void Add(const std::string& path, absl::StatusCode code) {
    const std::lock_guard lock(mutex_);
    ++ended_[{path, code}];
    changed_.notify_all();
  }

  std::atomic<int> refused_connections_ = 0;
  std::map<RefusalCause, int> causes_;  // guarded by mutex_
  std::deque<std::string> failures_;    // guarded by mutex_
  std::atomic<int> begun_ = 0;
  std::atomic<int> refused_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::string, absl::StatusCode>, int> ended_;
};

class TransportTest : public testing::Test, public Router {
 protected:
  TransportTest() {
    methods_["/echo"].run = [](Call* call) {
      std::string message;
      if (!call->Receive(&message)) return absl::InternalError("no message");
      call->Send(std::string(kPrefixBytes, '\0') + message, true);
      return absl::OkStatus();
    };
    methods_["/take"].run = [](Call* call) {
      std::string message;
      if (!call->Receive(&message)) return absl::InternalError("no message");
      call->Send(std::string(kPrefixBytes, '\0'), true);
      return absl::OkStatus();
    };
    methods_["/fail"].run = [](Call*) { return absl::FailedPreconditionError("50% of it\n"); };
    methods_["/throw"].run = [](Call*) -> absl::Status { throw std::runtime_error("thrown"); };
    // Runs until its client or the server stops it.
    methods_["/wait"].run = [this](Call* call) {
      running_.fetch_add(1);
      running_.notify_all();
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait(lock, call->stop(), [] { return false; });
      stopped_.fetch_add(1);
      stopped_.notify_all();
      return absl::CancelledError("stopped");
    };
    // Sends messages as long as a client reads them.
    methods_["/flood"].run = [this](Call* call) {
      running_.fetch_add(1);
      running_.notify_all();
      while (call->Send(std::string(kPrefixBytes + 100'000, 'f'), false)) sent_.fetch_add(1);
      stopped_.fetch_add(1);
      stopped_.notify_all();
      return absl::CancelledError("nobody reads");
    };
    // Returns each message as it arrives, until there is none.
    methods_["/talk"].run = [](Call* call) {
      for (std::string message; call->Receive(&message);)
        call->Send(std::string(kPrefixBytes, '\0') + message, false);
      return absl::OkStatus();
    };
    methods_["/talk"].takes_stream = true;
    methods_["/count"].run = [](Call* call) {
      std::string message;
      call->Receive(&message);
      for (int i = 0; i < 1000; ++i) {
        if (!call->Send(std::string(kPrefixBytes + 1000, static_cast<char>('a' + i % 26)),
                        i == 999))
          return absl::CancelledError("");
      }
      return absl::OkStatus();
    };
    AddOtherMethods();
  }

  void AddOtherMethods() {
    methods_["/metadata"].run = [](Call* call) {
      call->Send(std::string(kPrefixBytes, '\0') + std::string(call->metadata("x-asked")) + "," +
                     std::string(call->metadata("x-other")),
                 true);
      return absl::OkStatus();
    };
    methods_["/until"].run = [](Call* call) {
      if (!call->deadline().has_value()) return absl::NotFoundError("no deadline");
      while (call->Send(std::string(kPrefixBytes + 100'000, 'f'), false)) continue;
      return absl::CancelledError("nobody reads");
    };
    // The same, but ignores that no client listens.
    methods_["/deaf"].run = [this](Call* call) {
      running_.fetch_add(1);
      running_.notify_all();
      while (call->Send(std::string(kPrefixBytes + 100'000, 'd'), false)) continue;
      return absl::OkStatus();
    };
  }

  void Start(const std::function<void(TransportOptions*)>& change = [](TransportOptions*) {}) {
    TransportOptions options;
    options.listen = "127.0.0.1:0";
    // A busy machine delays clients that read and send. Tests that expect a timeout set it.
    options.client_timeout = options.stall_timeout = options.scarce_memory_timeout =
        std::chrono::minutes(10);
    change(&options);
    absl::StatusOr<std::unique_ptr<Transport>> transport =
        Transport::Start(options, this, &counter_);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
  }

  // Like Start. The transport looks for stalled clients only when a test calls EndStalled, so
  // time limits of a millisecond do not end what a slow machine delays.
  void StartWithoutLooks(const std::function<void(TransportOptions*)>& change) {
    Start([&](TransportOptions* options) {
      options->stall_check_interval = std::chrono::hours(24);
      change(options);
    });
  }
  // Looks for stalled clients all the time, on a thread, as long as it exists.
  class Looks {
   public:
    explicit Looks(Transport* transport)
        : thread_([transport](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
              transport->EndStalled();
              std::this_thread::yield();
            }
          }) {}

   private:
    std::jthread thread_;
  };

  // Memory for `bytes` of requests that are not small.
  static size_t MemoryFor(size_t bytes) { return bytes + bytes / 7; }  // less an eighth
  // Memory for `bytes` of headers and small requests.
  static size_t SmallMemoryFor(size_t bytes) { return bytes + bytes / 63; }

  // The transport uses this object until its end.
  void TearDown() override { transport_.reset(); }

  const Method* Find(std::string_view path) const override {
    const auto found = methods_.find(path);
    return found == methods_.end() ? nullptr : &found->second;
  }

  // A method with one response of 400,000 bytes. It ends when `all_sent` calls have sent theirs.
  static CallFunction LargeAnswer(std::latch* all_sent) {
    return [all_sent](Call* call) {
      call->Send(std::string(kPrefixBytes + 400'000, 'l'), true);
      all_sent->arrive_and_wait();
      return absl::OkStatus();
    };
  }

  static std::vector<int32_t> BeginMany(Http2Client* client, const std::string& path, int count) {
    std::vector<int32_t> streams;
    for (int i = 0; i < count; ++i) {
      streams.push_back(client->Begin(Http2Client::GrpcHeaders(path)));
      client->Write(streams.back(), Framed(""), true);
    }
    return streams;
  }

  // Waits until a counter has reached the value.
  static void Await(const std::atomic<int>& counter, int value) {
    for (int seen = counter.load(); seen < value; seen = counter.load()) counter.wait(seen);
  }

  std::map<std::string, Method, std::less<>> methods_;
  std::atomic<int> running_ = 0;
  std::atomic<int> stopped_ = 0;
  std::atomic<int> sent_ = 0;
  CallCounter counter_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace stele::server
