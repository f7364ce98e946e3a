// Tests a transport that gets no memory: the call or its connection ends, and the server goes on.
// Starting a thread needs memory, too.
//
// A program of its own, since it replaces `operator new`.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <latch>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "steled/transport/calls/call_threads.h"
#include "steled/transport/transport_fixture.h"

namespace {

// How many allocations of the server's threads succeed before one fails. Negative: all succeed.
std::atomic<int64_t> allocations_left = -1;
std::atomic<bool> is_exhausted = false;    // then all fail, once allocations_left is negative
thread_local bool is_test_thread = false;  // whose allocations never fail

bool FailsNow() {
  if (is_test_thread) return false;
  if (allocations_left.load() < 0) return is_exhausted.load();
  return allocations_left.fetch_sub(1) == 0;
}

}  // namespace

// All forms use malloc and free, as the sanitizers require. They are not inlined, because the
// compiler then reports that memory from `operator new` is passed to `free`.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  if (FailsNow()) return nullptr;
  return std::malloc(size > 0 ? size : 1);
}
[[gnu::noinline]] void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}

namespace stele::server {
namespace {

constexpr int64_t kAllocationsMax = 10'000;  // far more than a call makes

// Pauses once, for an event that has already come. Then it sends a message.
class PausesOnce final : public PausedCall, public std::enable_shared_from_this<PausesOnce> {
 public:
  absl::Status Resume(Call* call) override {
    if (!std::exchange(has_paused_, true)) {
      call->Waker()();
      call->Pause(PauseKind::kForEvent, shared_from_this());
      return absl::OkStatus();
    }
    call->Send(std::string(kPrefixBytes + 3000, 'p'), true);
    return absl::OkStatus();
  }

 private:
  bool has_paused_ = false;
};

class NoMemoryTest : public TransportTest {
 protected:
  NoMemoryTest() {
    is_test_thread = true;
    methods_["/pause"].run = [](Call* call) {
      return std::make_shared<PausesOnce>()->Resume(call);
    };
    methods_["/exhausted"].run = [](Call*) -> absl::Status { throw std::bad_alloc(); };
    methods_["/too-long"].run = [](Call*) -> absl::Status { throw std::length_error("too long"); };
    methods_["/reserve"].run = [](Call* call) -> absl::Status {
      EXPECT_TRUE(call->Reserve(100'000));
      EXPECT_TRUE(call->ReserveAnswer(10'000));
      throw std::bad_alloc();
    };
  }

  // With so few slots one that is not released is noticed.
  void StartSmall() {
    StartWithoutLooks([](TransportOptions* options) { options->calls_max = 2; });
  }

  // Returns once a new client gets its response, and all memory for requests is released.
  void AwaitService() {
    {
      Http2Client client(transport_->address());
      // The previous call may still have its slot.
      std::string status = client.Call("/echo", "beside").Status();
      while (status == "14") status = client.Call("/echo", "beside").Status();
      EXPECT_EQ(status, "0");
    }
    while (transport_->Figures().connections > 0) std::this_thread::yield();
    while (transport_->Figures().request_bytes > 0) std::this_thread::yield();
  }

  // Repeats `visit`, and lets another allocation of the server fail each time, until all succeed.
  void FailEachAllocation(const std::function<void()>& visit) {
    StartSmall();
    AwaitService();
    for (int64_t place = 0;; ++place) {
      ASSERT_LT(place, kAllocationsMax);
      SCOPED_TRACE(place);
      allocations_left = place;
      visit();
      const bool has_failed = allocations_left.exchange(-1) < 0;
      AwaitService();
      if (!has_failed) break;
    }
    transport_->Stop(std::chrono::hours(1));  // returns at once if no call is counted as running
    EXPECT_EQ(transport_->Figures().paused_calls, 0U);
  }

  // Makes a call. The client gets the response, the reason, or the end of the connection.
  void CallOnce(const std::string& path) {
    Http2Client client(transport_->address());
    const std::string status = client.Call(path, "x").Status();
    EXPECT_TRUE(status == "0" || status == "8" || status == "none") << status;
  }
};

TEST_F(NoMemoryTest, AMethodWithoutMemoryIsResourceExhausted) {
  StartSmall();
  Http2Client client(transport_->address());
  for (const char* const path : {"/exhausted", "/too-long", "/reserve"}) {
    for (int i = 0; i < 10; ++i) {
      const Answer answer = client.Call(path, "x");
      EXPECT_EQ(answer.Status(), "8") << path;
      EXPECT_NE(answer.headers.at("grpc-message").find("no memory for this"), std::string::npos);
    }
  }
  EXPECT_EQ(client.Call("/echo", "on the same connection").Status(), "0");
  client.Disconnect();
  AwaitService();
}

TEST_F(NoMemoryTest, EachAllocationOfACallMayFail) {
  FailEachAllocation([this] { CallOnce("/echo"); });
}

TEST_F(NoMemoryTest, EachAllocationOfAPausedCallMayFail) {
  FailEachAllocation([this] { CallOnce("/pause"); });
}

TEST_F(NoMemoryTest, EachAllocationOfARefusalMayFail) {
  FailEachAllocation([this] {
    Http2Client client(transport_->address());
    const std::string status = client.Call("/unknown", "x").Status();
    EXPECT_TRUE(status == "12" || status == "8" || status == "none") << status;
  });
}

TEST_F(NoMemoryTest, EachAllocationOfAStreamMayFail) {
  FailEachAllocation([this] {
    Http2Client client(transport_->address());
    const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/talk"));
    client.Write(stream, Framed("first"), false);
    client.Write(stream, Framed("second"), true);
    const std::string status = client.Await(stream).Status();
    EXPECT_TRUE(status == "0" || status == "8" || status == "none") << status;
  });
}

TEST_F(NoMemoryTest, EachAllocationOfAStopMayFail) {
  for (int64_t place = 0;; ++place) {
    ASSERT_LT(place, kAllocationsMax);
    SCOPED_TRACE(place);
    StartSmall();
    Http2Client client(transport_->address());
    const int running = running_.load();
    const int32_t stream = BeginMany(&client, "/wait", 1)[0];
    Await(running_, running + 1);
    is_test_thread = false;  // this thread stops the transport
    allocations_left = place;
    transport_->Stop(std::chrono::milliseconds(1));
    const bool has_failed = allocations_left.exchange(-1) < 0;
    is_test_thread = true;
    client.Await(stream);
    transport_.reset();
    if (!has_failed) break;
  }
  EXPECT_GT(stopped_.load(), 0);
}

TEST(CallThreadsWithoutMemory, ARefusedThreadIsStartedLater) {
  is_test_thread = true;
  std::latch may_begin(1);
  std::latch have_begun(2);
  std::latch may_end(1);
  std::atomic<int> turns = 0;
  std::atomic<bool> stops = false;
  std::unique_ptr<CallThreads> threads;
  const auto turn = [&] {
    if (turns.fetch_add(1) < 2) {  // both threads run a long call
      may_begin.wait();
      threads->BeginCall(/*is_short=*/false);
      have_begun.count_down();
      may_end.wait();
      threads->EndCall();
      return CallThreads::Turn::kDidWork;
    }
    threads->StartsWaiting();
    threads->StopsWaiting();
    turns.notify_all();
    return stops ? CallThreads::Turn::kStop : CallThreads::Turn::kHadNothing;
  };
  threads = std::make_unique<CallThreads>(turn, 8);
  ASSERT_TRUE(threads->Start());
  while (!threads->IsMonitorAsleep()) std::this_thread::yield();
  is_exhausted = true;
  may_begin.count_down();
  have_begun.wait();
  EXPECT_EQ(turns.load(), 2) << "there must be no thread for events";
  is_exhausted = false;
  for (int seen = turns.load(); seen < 3; seen = turns.load()) turns.wait(seen);
  stops = true;
  may_end.count_down();
  threads->Wait();
}

TEST(CallThreadsWithoutMemory, StartFailsWithoutAnyThread) {
  for (int64_t place = 0;; ++place) {
    ASSERT_LT(place, kAllocationsMax);
    std::atomic<int> turns = 0;
    const auto turn = [&turns] {
      ++turns;
      return CallThreads::Turn::kStop;
    };
    CallThreads threads(turn, 8);
    is_test_thread = false;  // this thread starts the others
    allocations_left = place;
    is_exhausted = true;
    const bool is_started = threads.Start();
    threads.Wait();
    is_exhausted = false;
    const bool has_failed = allocations_left.exchange(-1) < 0;
    is_test_thread = true;
    EXPECT_EQ(is_started, turns.load() > 0) << place;
    if (has_failed) continue;
    EXPECT_TRUE(is_started);
    break;
  }
}

}  // namespace
}  // namespace stele::server
