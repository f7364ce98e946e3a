#include "steled/transport/transport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"
#include "steled/transport/calls/call_limits.h"
#include "steled/transport/calls/call_threads.h"
#include "steled/transport/http2/http2_connection.h"
#include "steled/transport/sockets/listening_socket.h"
#include "steled/transport/sockets/poller.h"
#include "steled/transport/sockets/socket.h"
#include "steled/transport/sockets/tls.h"

namespace stele::server {
namespace {

using SteadyClock = std::chrono::steady_clock;
using ConnectionPtr = std::shared_ptr<Http2Connection>;
// A call from its acceptance to its end.
struct AcceptedCall {
  ConnectionPtr connection;
  Http2Connection::StreamPtr stream;
};
// A call is passed on as a list of one, since that needs no memory.
using Calls = std::list<AcceptedCall>;

constexpr uint64_t kListening = 1;
constexpr uint64_t kFirstConnection = 2;
constexpr std::chrono::seconds kIdle(10);        // after which a superfluous thread ends
constexpr std::chrono::seconds kShrinkAfter(1);  // a client that reads nothing for so long is slow

class Http2Transport final : public Transport {
 public:
  Http2Transport(const TransportOptions& options, const Router* router, CallObserver* observer,
                 ListeningSocket listening, TlsContext tls)
      : options_(options),
        host_{.router = *router,
              .observer = observer == nullptr ? nobody_ : *observer,
              .metadata = options.metadata,
              .trailers = options.trailers,
              .message_bytes_max = options.message_bytes_max,
              .resume = [this](const Call* call) { Resume(call); },
              .memory = RequestMemory(options.request_memory_bytes)},
        listening_(std::move(listening)),
        tls_(std::move(tls)),
        address_(listening_.address()),
        slots_(options.calls_max, kOtherCallsMax),
        // Two more than run calls: one waits for events, so that a call can be cancelled while all
        // others run.
        threads_([this] { return TakeTurn(); },
                 options.calls_max + kOtherCallsMax + kHealthCallsMax + 2) {}

  ~Http2Transport() override { Stop(std::chrono::milliseconds(0)); }

  absl::Status Begin() {
    STELED_RETURN_IF_ERROR(poller_.status());
    if (!poller_.Add(listening_.descriptor(), kListening))
      return Unavailable("cannot wait for connections");
    const bool are_watched = Completes([this] {
      stalled_watch_ = std::jthread([this](const std::stop_token& stop) { WatchStalled(stop); });
    });
    if (!are_watched || !threads_.Start())
      return Unavailable("no threads for calls: raise the limit of threads, or free memory");
    return absl::OkStatus();
  }

  const std::string& address() const override { return address_; }

  TransportFigures Figures() override {
    TransportFigures figures{.request_bytes = host_.memory.bytes()};
    VisitConnections([&](uint64_t /*id*/, Http2Connection& connection) {
      ++figures.connections;
      figures.streams += connection.StreamCount();
    });
    const std::lock_guard lock(mutex_);
    figures.accepted = next_connection_ - kFirstConnection;
    figures.paused_calls = paused_.size();
    return figures;
  }

  absl::Status UseTls(const TlsFiles& tls) override {
    STELED_ASSIGN_OR_RETURN(TlsContext context, NewTlsContext(tls));
    const std::lock_guard lock(tls_mutex_);
    tls_ = std::move(context);
    return absl::OkStatus();
  }

  void EndStalled() override {
    const SteadyClock::time_point now = SteadyClock::now();
    Http2Connection::Cutoffs cutoffs{
        .preface_since = now - options_.client_timeout,
        .progress_since = now - ShortenIfScarce(options_.client_timeout),
        .begun_since = now - options_.request_timeout,
        .read_since = now - options_.stall_timeout,
        .charged_since = now - options_.stall_timeout,
        .ping_since = now - options_.ping_delay,
        .silent_since = now - options_.ping_delay - options_.client_timeout};
    const auto end_stalled = [&](uint64_t id, Http2Connection& connection) {
      if (!connection.EndStalled(cutoffs)) Remove(id);
    };
    VisitConnections(end_stalled);
    // Slow requests were ended first: the memory that they held may be enough for slow readers.
    if (host_.memory.IsScarce()) {
      cutoffs.charged_since = now - ShortenIfScarce(options_.stall_timeout);
      VisitConnections(end_stalled);
    }
    ShrinkPaused(now);
  }

  void Stop(std::chrono::milliseconds grace) override {
    if (std::exchange(is_stopping_, true)) return;
    stalled_watch_.request_stop();
    {
      const std::lock_guard lock(listening_mutex_);
      listening_.Close();
    }
    SteadyClock::time_point end = SteadyClock::now() + grace;
    AnnounceEnd(std::min(grace, options_.goaway_timeout));
    {
      std::unique_lock lock(mutex_);
      const auto is_idle = [this] { return call_count_ == 0; };
      if (!call_ended_.wait_until(lock, end, is_idle)) {
        lock.unlock();
        VisitConnections([](uint64_t /*id*/, Http2Connection& c) { c.EndCalls(/*are_all=*/true); });
        lock.lock();
        call_ended_.wait(lock, is_idle);
        end = SteadyClock::now();
        if (grace > grace.zero()) end += options_.final_response_timeout;
      }
    }
    VisitConnections([](uint64_t /*id*/, Http2Connection& c) { c.RefuseIncomplete(); });
    VisitConnections([&](uint64_t /*id*/, Http2Connection& c) { c.AwaitRead(end); });
    VisitConnections([](uint64_t /*id*/, Http2Connection& c) { c.Close(); });
    is_stopped_ = true;
    poller_.Wake();
    threads_.Wait();
  }

 private:
  // Accepts calls until the clients have read the announcement, or for `limit`.
  void AnnounceEnd(std::chrono::milliseconds limit) {
    {
      const std::lock_guard lock(mutex_);
      accepts_connections_ = false;
    }
    VisitConnections([](uint64_t /*id*/, Http2Connection& c) { c.AnnounceEnd(); });
    const SteadyClock::time_point end = SteadyClock::now() + limit;
    VisitConnections([&](uint64_t /*id*/, Http2Connection& c) { c.AwaitAnnounced(end); });
    VisitConnections([](uint64_t /*id*/, Http2Connection& c) { c.Drain(); });
  }

  // ---- threads ----

  CallThreads::Turn TakeTurn() {
    if (RunWaitingCall()) return CallThreads::Turn::kDidWork;
    threads_.StartsWaiting();
    std::optional<Poller::Event> event;
    if (running_count_ == 0) event = poller_.SpinWait();
    if (!event.has_value()) event = poller_.Wait(kIdle);
    threads_.StopsWaiting();
    if (is_stopped_) {
      poller_.Wake();  // the next one
      return CallThreads::Turn::kStop;
    }
    if (!event.has_value()) return CallThreads::Turn::kHadNothing;
    if (event->id == kListening) {
      AcceptAll();
    } else if (event->id >= kFirstConnection) {
      Serve(*event);
    }
    return CallThreads::Turn::kDidWork;
  }

  // Runs the first of the new calls on this thread; other threads run the others.
  void Serve(const Poller::Event& event) {
    const uint64_t id = event.id;
    const ConnectionPtr connection = Find(id);
    if (connection == nullptr) return;
    std::vector<Http2Connection::StreamPtr> begun;
    const Http2Connection::Ready ready = connection->OnReady(event.is_ending, &begun);
    if (ready == Http2Connection::Ready::kMore) poller_.Rearm(connection->descriptor(), id);
    Calls first;
    for (Http2Connection::StreamPtr& stream : begun) {
      // Moved, since a stream that is refused must be freed before the first call runs.
      Calls call = Admit(connection, std::move(stream));
      if (first.empty()) {
        first = std::move(call);
      } else if (!call.empty()) {
        Defer(std::move(call));
      }
    }
    if (ready == Http2Connection::Ready::kOver) Remove(id);
    if (!first.empty()) RunCall(std::move(first));
  }

  // Returns the call of the stream. If it is refused, its client gets the reason, and the result is
  // empty.
  Calls Admit(const ConnectionPtr& connection, Http2Connection::StreamPtr stream) {
    absl::Status admitted;
    try {
      Calls call;
      call.push_back({connection, stream});
      RefusalCause cause{};
      {
        const std::lock_guard lock(mutex_);
        admitted = slots_.Acquire(stream->method->kind, connection->slots_taken(), &cause);
        if (admitted.ok()) {
          ++call_count_;
          ++running_count_;
          return call;
        }
      }
      // Before the client gets the status, and looks at the metrics.
      host_.observer.OnRefused({stream->path(), connection->peer(), admitted.code(), cause});
    } catch (...) {
      admitted = StatusOfException();
    }
    connection->Finish(stream.get(), admitted);
    return {};
  }

  void Defer(Calls call) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.splice(waiting_.end(), call);
    }
    poller_.Wake();
  }

  bool RunWaitingCall() {
    Calls call;
    bool are_more = false;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return false;
      call.splice(call.end(), waiting_, waiting_.begin());
      are_more = !waiting_.empty();
    }
    if (are_more) poller_.Wake();  // several wakes may have been merged
    RunCall(std::move(call));
    return true;
  }

  // Nothing here throws, so the call's slot is released and it is counted as ended in any case.
  void RunCall(Calls calls) {
    const AcceptedCall& accepted = calls.front();
    Http2Stream& call = *accepted.stream;
    threads_.BeginCall(call.method->IsShort(/*is_alone=*/running_count_ == 1));
    const SteadyClock::time_point begin = SteadyClock::now();
    if (call.continuation == nullptr) {
      call.run_at = begin;
      Completes([&] { host_.observer.OnBegin(call.path()); });
    }
    absl::Status status = call.Handle();
    call.method->time.Add(SteadyClock::now() - begin);
    {
      const std::lock_guard lock(mutex_);
      // Before the client gets the end, and sends the next call.
      slots_.Release(call.method->kind, accepted.connection->slots_taken());
    }
    if (call.continuation != nullptr) {
      status = KeepPaused(&calls);
      if (status.ok()) return threads_.EndCall();
      call.continuation = nullptr;
    }
    const absl::StatusCode code = accepted.connection->Finish(&call, status);
    Completes([&] { TellEnd(call, accepted.connection->peer(), code); });
    threads_.EndCall();
    const std::lock_guard lock(mutex_);
    --call_count_;
    --running_count_;
    if (call_count_ == 0 && !accepts_connections_) call_ended_.notify_all();
  }

  void TellEnd(const Http2Stream& call, const std::string& peer, absl::StatusCode code) {
    // A call that has sent something counts as run.
    if (call.refusal.has_value() && call.sent_bytes == 0) {
      return host_.observer.OnRefused({call.path(), peer, code, *call.refusal, /*has_begun=*/true});
    }
    host_.observer.OnEnd({call.path(), peer, code, SteadyClock::now() - call.run_at,
                          call.received_bytes, call.sent_bytes, call.is_beyond_memory});
  }

  // ---- calls that wait without a thread ----

  // Moves the call out of `calls`. Without memory for it, it returns the call's error and leaves
  // the call there.
  absl::Status KeepPaused(Calls* calls) {
    const auto [connection, stream] = calls->front();
    const PauseKind kind = stream->requested_pause;
    try {
      const std::lock_guard lock(mutex_);
      Paused& paused = paused_[stream.get()];
      paused.call.swap(*calls);
      paused.since = SteadyClock::now();
      --running_count_;
    } catch (...) {
      return StatusOfException();
    }
    connection->BeginPause(stream.get(), kind);
    return absl::OkStatus();
  }

  // Does nothing if the call is not paused any more. Needs no memory, since callbacks of nghttp2
  // and threads of the services call it.
  void Resume(const Call* paused_call) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = paused_.find(paused_call);
      if (found == paused_.end()) return;
      waiting_.splice(waiting_.end(), found->second.call);
      paused_.erase(found);
      const AcceptedCall& call = waiting_.back();
      slots_.ForceAcquire(call.stream->method->kind, call.connection->slots_taken());
      ++running_count_;
    }
    poller_.Wake();
  }

  // Releases resources of paused calls whose clients are slow. Resumes those whose time or deadline
  // has passed, and those that got no message for too long, so that they end.
  void ShrinkPaused(SteadyClock::time_point now) {
    std::vector<std::shared_ptr<void>> given_away;  // destroyed without the lock
    std::vector<Http2Connection::StreamPtr> late;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [key, paused] : paused_) {
        const Http2Stream& call = *paused.call.front().stream;
        if (paused.since < now - kShrinkAfter) {
          given_away.emplace_back();
          given_away.back() = call.continuation->Shrink();
        }
        const auto deadline = call.deadline();
        const bool is_silent = call.requested_pause == PauseKind::kForMessage &&
                               paused.since < now - options_.stall_timeout;
        const bool is_over = call.continuation->until() <= now;
        if (is_silent || is_over || (deadline.has_value() && *deadline <= now))
          late.push_back(paused.call.front().stream);
      }
    }
    for (const Http2Connection::StreamPtr& stream : late) Resume(stream.get());
  }

  // ---- connections ----

  void AcceptAll() {
    for (int descriptor = 0; (descriptor = AcceptOne()) >= 0;) {
      // Without memory for the connection it is closed, and its client retries.
      Completes([&] { AddConnection(descriptor); });
    }
  }

  void AddConnection(int descriptor) {
    std::unique_ptr<Socket> socket = Socket::New(descriptor, Tls());
    if (socket == nullptr) return;
    const auto connection = std::make_shared<Http2Connection>(std::move(socket), &host_);
    uint64_t id = 0;
    {
      const std::lock_guard lock(mutex_);
      // Only older connections were told to stop, so close this one.
      if (!accepts_connections_) return;
      if (connections_.size() < options_.connections_max) {
        connections_.emplace(next_connection_, connection);
        id = next_connection_++;
      }
    }
    if (id == 0) {
      // There are too many connections. This one is closed, and its client retries.
      return host_.observer.OnConnectionRefused(connection->peer());
    }
    // The poller also reports bytes that arrived before.
    if (!poller_.Add(descriptor, id)) Remove(id);
  }

  TlsContext Tls() {
    const std::lock_guard lock(tls_mutex_);
    return tls_;
  }

  int AcceptOne() {
    const std::lock_guard lock(listening_mutex_);
    return listening_.descriptor() < 0 ? -1 : listening_.Accept(options_.stall_timeout);
  }

  ConnectionPtr Find(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(id);
    return found == connections_.end() ? nullptr : found->second;
  }

  void Remove(uint64_t id) {
    ConnectionPtr connection;
    {
      const std::lock_guard lock(mutex_);
      const auto found = connections_.find(id);
      if (found == connections_.end()) return;
      connection = std::move(found->second);
      connections_.erase(found);
    }
    connection->Close();
  }

  // Calls `visit` for each connection, oldest first, without the lock. Needs no memory, so that
  // Stop can do all its steps.
  template <typename Visit>
  void VisitConnections(const Visit& visit) {
    uint64_t id = 0;
    while (const ConnectionPtr connection = FindAfter(&id)) visit(id, *connection);
  }

  // Returns the connection with the next higher id, and sets the id; null: there is none.
  ConnectionPtr FindAfter(uint64_t* id) {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.upper_bound(*id);
    if (found == connections_.end()) return nullptr;
    *id = found->first;
    return found->second;
  }

  // Returns `usual`, or scarce_memory_timeout if that is shorter and memory is scarce.
  std::chrono::milliseconds ShortenIfScarce(std::chrono::milliseconds usual) {
    return host_.memory.IsScarce() ? std::min(usual, options_.scarce_memory_timeout) : usual;
  }

  void WatchStalled(const std::stop_token& stop) {
    std::unique_lock lock(stall_check_mutex_);
    while (!stop.stop_requested()) {
      never_.wait_for(lock, stop, options_.stall_check_interval, [] { return false; });
      Completes([this] { EndStalled(); });
      host_.memory.TrimWhenQuiet();
      AcceptAll();  // clients that an error kept out
    }
  }

  const TransportOptions options_;
  CallObserver nobody_;  // if there is no observer
  ConnectionHost host_;
  std::mutex listening_mutex_;
  ListeningSocket listening_;  // guarded by listening_mutex_
  std::mutex tls_mutex_;
  // Guarded by tls_mutex_; null: connections are plain. Sockets that were made with it keep its
  // OpenSSL objects.
  TlsContext tls_;
  const std::string address_;
  Poller poller_;
  // The calls of call_count_ that are not paused. Changed under mutex_; a hint without it.
  std::atomic<int> running_count_ = 0;
  std::atomic<bool> is_stopped_ = false;
  bool is_stopping_ = false;  // Stop was called

  std::mutex mutex_;
  std::map<uint64_t, ConnectionPtr> connections_;  // guarded by mutex_, like all below
  uint64_t next_connection_ = kFirstConnection;
  Calls waiting_;
  struct Paused {
    Calls call;  // one
    SteadyClock::time_point since;
  };
  std::unordered_map<const Call*, Paused> paused_;
  CallSlots slots_;     // of calls that wait for a thread or run
  int call_count_ = 0;  // these, those that are being responded to, and paused ones
  bool accepts_connections_ = true;
  std::condition_variable call_ended_;

  CallThreads threads_;
  std::mutex stall_check_mutex_;  // only for never_, which allocates memory when it is made
  std::condition_variable_any never_;
  std::jthread stalled_watch_;  // last: uses the others
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Start(const TransportOptions& options,
                                                            const Router* router,
                                                            CallObserver* observer) {
  TlsContext tls;
  if (!options.tls.certificate_chain.empty()) {
    STELED_ASSIGN_OR_RETURN(tls, NewTlsContext(options.tls));
  }
  STELED_ASSIGN_OR_RETURN(ListeningSocket listening, ListeningSocket::Listen(options.listen));
  auto server = std::make_unique<Http2Transport>(options, router, observer, std::move(listening),
                                                 std::move(tls));
  STELED_RETURN_IF_ERROR(server->Begin());
  return server;
}

}  // namespace stele::server
