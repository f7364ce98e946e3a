#include "steled/transport/transport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_places.h"
#include "steled/transport/calls/call_threads.h"
#include "steled/transport/calls/call_times.h"
#include "steled/transport/calls/overload.h"
#include "steled/transport/calls/request_memory.h"
#include "steled/transport/http2/http2_connection.h"
#include "steled/transport/http2/served_call.h"
#include "steled/transport/sockets/listening_socket.h"
#include "steled/transport/sockets/poller.h"
#include "steled/transport/sockets/socket.h"
#include "steled/transport/sockets/tls.h"

namespace stele::server {
namespace {

using SteadyClock = std::chrono::steady_clock;
using ConnectionPtr = ServedCall::ConnectionPtr;

constexpr uint64_t kListening = 1;
constexpr uint64_t kFirstConnection = 2;
constexpr std::chrono::seconds kIdle(10);        // after which a superfluous thread ends
constexpr std::chrono::seconds kShrinkAfter(1);  // a client that reads nothing for so long is slow

// Implements the interface for connections. Exists until the last thread has ended.
class Host final : public ConnectionHost {
 public:
  Host(const TransportOptions& options, const Router* router, CallObserver* observer,
       std::function<void(const Http2Stream*)> resume)
      : options_(options),
        router_(*router),
        observer_(observer),
        resume_(std::move(resume)),
        memory_(options.request_memory_bytes) {}

  const Method* FindMethod(std::string_view path) const override { return router_.Find(path); }
  bool TakesStream(std::string_view path) const override {
    return std::find(options_.request_streams.begin(), options_.request_streams.end(), path) !=
           options_.request_streams.end();
  }
  bool IsAskedFor(std::string_view name) const override {
    return std::find(options_.metadata.begin(), options_.metadata.end(), name) !=
           options_.metadata.end();
  }
  const TransportTrailers& trailers() const override { return options_.trailers; }
  size_t MessageBytesMax(std::string_view path) const override {
    return std::min(options_.message_bytes_max, router_.MessageBytesMax(path));
  }
  bool IsHealthCheck(std::string_view path) const override { return path == options_.health_check; }
  RequestMemory& memory() override { return memory_; }
  void OnRefused(const RefusedCall& call) override {
    if (observer_ != nullptr) observer_->OnRefused(call);
  }
  void OnHandshakeFailed(const std::string& peer, std::string_view reason) override {
    if (observer_ != nullptr) observer_->OnHandshakeFailed(peer, reason);
  }
  void OnResumed(const Http2Stream* stream) override { resume_(stream); }

 private:
  const TransportOptions& options_;
  const Router& router_;
  CallObserver* const observer_;  // may be null
  const std::function<void(const Http2Stream*)> resume_;
  RequestMemory memory_;
};

std::vector<const Method*> MethodsOf(const std::vector<std::string>& paths, const Router& router) {
  std::vector<const Method*> methods;
  for (const std::string& path : paths) methods.push_back(router.Find(path));
  return methods;
}

class Http2Transport final : public Transport {
 public:
  Http2Transport(const TransportOptions& options, const Router* router, CallObserver* observer,
                 ListeningSocket listening, std::optional<TlsContext> tls)
      : options_(options),
        host_(options_, router, observer, [this](const Http2Stream* stream) { Resume(stream); }),
        observer_(observer),
        listening_(std::move(listening)),
        tls_(std::move(tls)),
        address_(listening_.address()),
        places_({.data_prefix = options.data_prefix,
                 .health_prefix = options.health_prefix,
                 .data_max = options.calls_max,
                 .other_max = kOtherCallsMax}),
        times_(MethodsOf(options.syncing, *router)),
        // Two more than run calls: one waits for events, so that a call can be cancelled while all
        // others run.
        threads_([this] { return TakeTurn(); },
                 options.calls_max + kOtherCallsMax + kHealthCallsMax + 2) {}

  ~Http2Transport() override { Stop(std::chrono::milliseconds(0)); }

  absl::Status Begin() {
    STELED_RETURN_IF_ERROR(poller_.status());
    if (!poller_.Add(listening_.descriptor(), kListening))
      return MakeStatus(absl::StatusCode::kUnavailable, "cannot wait for connections");
    threads_.Start();
    return absl::OkStatus();
  }

  const std::string& address() const override { return address_; }

  TransportFigures Figures() override {
    TransportFigures figures{.request_bytes = host_.memory().bytes()};
    for (const ConnectionPtr& connection : Connections()) {
      ++figures.connections;
      figures.streams += connection->StreamCount();
    }
    const std::lock_guard lock(mutex_);
    figures.accepted = next_connection_ - kFirstConnection;
    figures.paused_calls = paused_.size();
    return figures;
  }

  absl::Status UseTls(const TlsFiles& tls) override {
    STELED_ASSIGN_OR_RETURN(TlsContext context, TlsContext::Create(tls.certificate_chain,
                                                                   tls.private_key, tls.client_ca));
    const std::lock_guard lock(tls_mutex_);
    tls_ = std::move(context);
    return absl::OkStatus();
  }

  void LookForStalled() override {
    GiveUpStalled();
    EndUnread();
    ShrinkPaused();
  }

  void Stop(std::chrono::milliseconds grace) override {
    if (std::exchange(is_stopping_, true)) return;
    stalled_watch_.request_stop();
    {
      const std::lock_guard lock(listening_mutex_);
      listening_.Close();
    }
    SteadyClock::time_point end = SteadyClock::now() + grace;
    AnnounceEnd(std::min(grace, options_.announcement));
    {
      std::unique_lock lock(mutex_);
      const auto is_idle = [this] { return call_count_ == 0; };
      if (!call_ended_.wait_until(lock, end, is_idle)) {
        lock.unlock();
        for (const ConnectionPtr& connection : Connections()) connection->StopCalls();
        lock.lock();
        call_ended_.wait(lock, is_idle);
        end = SteadyClock::now();
        if (grace > grace.zero()) end += options_.last_words;
      }
    }
    for (const ConnectionPtr& connection : Connections()) connection->RefuseIncomplete();
    for (const ConnectionPtr& connection : Connections()) connection->AwaitRead(end);
    for (const ConnectionPtr& connection : Connections()) connection->Close();
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
    const std::vector<ConnectionPtr> connections = Connections();
    for (const ConnectionPtr& connection : connections) connection->AnnounceEnd();
    const SteadyClock::time_point end = SteadyClock::now() + limit;
    for (const ConnectionPtr& connection : connections) connection->AwaitAnnounced(end);
    for (const ConnectionPtr& connection : connections) connection->Drain();
  }

  // ---- threads ----

  CallThreads::Turn TakeTurn() {
    if (RunWaitingCall()) return CallThreads::Turn::kDidWork;
    threads_.StartsWaiting();
    std::optional<Poller::Event> event;
    if (!are_running_) event = poller_.Watch();
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
    if (ready == Http2Connection::Ready::kMore) poller_.Repeat(connection->descriptor(), id);
    std::optional<ServedCall> first;
    for (Http2Connection::StreamPtr& stream : begun) {
      ServedCall call(connection, std::move(stream));
      RefusalCause cause{};
      if (const absl::Status admitted = Admit(call, &cause); !admitted.ok()) {
        // Before the client gets the status, and looks at the metrics.
        host_.OnRefused({call.path(), call.peer(), admitted.code(), cause});
        call.Finish(admitted);
      } else if (!first.has_value()) {
        first.emplace(std::move(call));
      } else {
        Defer(std::move(call));
      }
    }
    if (ready == Http2Connection::Ready::kOver) Remove(id);
    if (first.has_value()) RunCall(&*first);
  }

  absl::Status Admit(const ServedCall& call, RefusalCause* cause) {
    const std::lock_guard lock(mutex_);
    if (call.stream()->is_late) {
      *cause = RefusalCause::kShutdown;
      return Overloaded("The server ends");
    }
    const absl::Status taken = places_.Take(call.path(), call.connection()->places_taken(), cause);
    if (!taken.ok()) return taken;
    ++call_count_;
    are_running_ = true;
    return absl::OkStatus();
  }

  bool IsOnlyCall() {
    const std::lock_guard lock(mutex_);
    return RunningCount() == 1;
  }

  void Defer(ServedCall call) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(call));
    }
    poller_.Wake();
  }

  bool RunWaitingCall() {
    std::optional<ServedCall> call;
    bool are_more = false;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return false;
      call.emplace(std::move(waiting_.front()));
      waiting_.pop_front();
      are_more = !waiting_.empty();
    }
    if (are_more) poller_.Wake();  // several wakes may have been merged
    RunCall(&*call);
    return true;
  }

  void RunCall(ServedCall* call) {
    threads_.BeginCall(
        times_.AreShort(call->method(), !times_.Syncs(call->method()) || IsOnlyCall()));
    const SteadyClock::time_point begin = SteadyClock::now();
    const bool is_resumed = call->IsPaused();
    if (!is_resumed) {
      call->SetBegin(begin);
      if (observer_ != nullptr) observer_->OnBegin(call->path());
    }
    const absl::Status status = call->Handle();
    times_.Add(call->method(), SteadyClock::now() - begin);
    {
      const std::lock_guard lock(mutex_);
      // Before the client gets the end, and sends the next call.
      places_.Leave(call->path(), call->connection()->places_taken());
    }
    if (call->IsPaused()) {
      KeepPaused(std::move(*call));
      return threads_.EndCall();
    }
    TellEnd(*call, call->Finish(status));
    threads_.EndCall();
    const std::lock_guard lock(mutex_);
    --call_count_;
    UpdateRunning();
    if (call_count_ == 0 && !accepts_connections_) call_ended_.notify_all();
  }

  void TellEnd(const ServedCall& call, absl::StatusCode code) {
    if (observer_ == nullptr) return;
    // A call that has sent something counts as run.
    if (call.refusal().has_value() && call.sent_bytes() == 0) {
      return observer_->OnRefused(
          {call.path(), call.peer(), code, *call.refusal(), /*has_begun=*/true});
    }
    observer_->OnEnd({call.path(), call.peer(), code, SteadyClock::now() - call.begin(),
                      call.received_bytes(), call.sent_bytes(), call.is_beyond_memory()});
  }

  // Needs the lock.
  int RunningCount() const { return call_count_ - static_cast<int>(paused_.size()); }
  void UpdateRunning() { are_running_ = RunningCount() > 0; }

  // ---- calls that wait without a thread ----

  void KeepPaused(ServedCall call) {
    const ConnectionPtr connection = call.connection();
    const Http2Connection::StreamPtr stream = call.stream();
    const PauseKind kind = call.pause_kind();
    {
      const std::lock_guard lock(mutex_);
      paused_.emplace(stream.get(), Paused{std::move(call), SteadyClock::now()});
      UpdateRunning();
    }
    connection->Pause(stream.get(), kind);
  }

  // Does nothing if the call is not paused any more.
  void Resume(const Http2Stream* stream) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = paused_.find(stream);
      if (found == paused_.end()) return;
      waiting_.push_back(std::move(found->second.call));
      paused_.erase(found);
      const ServedCall& call = waiting_.back();
      places_.TakeAgain(call.path(), call.connection()->places_taken());
      UpdateRunning();
    }
    poller_.Wake();
  }

  // Releases resources of paused calls whose clients are slow. Resumes those whose time or deadline
  // has passed, and those that got no message for too long, so that they end.
  void ShrinkPaused() {
    const SteadyClock::time_point now = SteadyClock::now();
    std::vector<std::shared_ptr<void>> given_away;  // destroyed without the lock
    std::vector<Http2Connection::StreamPtr> late;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [stream, paused] : paused_) {
        if (paused.since < now - kShrinkAfter) given_away.push_back(paused.call.rest()->Shrink());
        const auto deadline = paused.call.deadline();
        const bool is_silent = paused.call.pause_kind() == PauseKind::kForMessage &&
                               paused.since < now - options_.stall_timeout;
        const bool is_over = paused.call.rest()->until() <= now;
        if (is_silent || is_over || (deadline.has_value() && *deadline <= now))
          late.push_back(paused.call.stream());
      }
    }
    for (const Http2Connection::StreamPtr& stream : late) Resume(stream.get());
  }

  // ---- connections ----

  void AcceptAll() {
    while (true) {
      const int descriptor = AcceptOne();
      if (descriptor < 0) return;
      const std::optional<TlsContext> tls = Tls();
      std::unique_ptr<Socket> socket =
          tls.has_value() ? NewTlsSocket(descriptor, *tls) : NewPlainSocket(descriptor);
      if (socket == nullptr) continue;
      const auto connection = std::make_shared<Http2Connection>(std::move(socket), &host_);
      uint64_t id = 0;
      {
        const std::lock_guard lock(mutex_);
        // Only older connections were told to stop, so close this one.
        if (!accepts_connections_) continue;
        if (connections_.size() < options_.connections_max) {
          id = next_connection_++;
          connections_.emplace(id, connection);
        }
      }
      if (id == 0) {
        // There are too many connections. This one is closed, and its client retries.
        if (observer_ != nullptr) observer_->OnConnectionRefused(connection->peer());
        continue;
      }
      // The poller also reports bytes that arrived before.
      if (!poller_.Add(descriptor, id)) Remove(id);
    }
  }

  std::optional<TlsContext> Tls() {
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

  std::vector<ConnectionPtr> Connections() {
    const std::lock_guard lock(mutex_);
    std::vector<ConnectionPtr> all;
    for (const auto& [id, connection] : connections_) all.push_back(connection);
    return all;
  }

  // The time that clients have, which is usually `usual`.
  std::chrono::milliseconds Patience(std::chrono::milliseconds usual) {
    return host_.memory().IsScarce() ? std::min(usual, options_.scarce_time) : usual;
  }

  void GiveUpStalled() {
    std::vector<uint64_t> silent;
    const SteadyClock::time_point now = SteadyClock::now();
    const SteadyClock::time_point since = now - Patience(options_.cutoffs);
    const SteadyClock::time_point begun_since = now - options_.request_time_max;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, connection] : connections_) {
        const bool is_late = connection->since() < now - options_.cutoffs;
        if (is_late && !connection->IsGreeted()) silent.push_back(id);
      }
    }
    for (const uint64_t id : silent) Remove(id);
    for (const ConnectionPtr& connection : Connections())
      connection->GiveUpStalled(since, begun_since);
  }

  void EndUnread() {
    const SteadyClock::time_point now = SteadyClock::now();
    const Http2Connection::Cutoffs cutoffs{
        .since = now - options_.stall_timeout,
        .unread_since = now - Patience(options_.stall_timeout),
        .ping_since = now - options_.ping_after,
        .silent_since = now - options_.ping_after - options_.cutoffs};
    std::map<uint64_t, ConnectionPtr> connections;
    {
      const std::lock_guard lock(mutex_);
      connections = connections_;
    }
    for (const auto& [id, connection] : connections) {
      if (!connection->EndUnread(cutoffs)) Remove(id);
      connection->StopCallsOfClosedStreams();
    }
  }

  void WatchStalled(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      never.wait_for(lock, stop, options_.look_every, [] { return false; });
      LookForStalled();
      host_.memory().TrimWhenQuiet();
      AcceptAll();  // clients that an error kept out
    }
  }

  const TransportOptions options_;
  Host host_;
  CallObserver* const observer_;  // may be null
  std::mutex listening_mutex_;
  ListeningSocket listening_;  // guarded by listening_mutex_
  std::mutex tls_mutex_;
  // Guarded by tls_mutex_. TLS sockets that were made with it keep its OpenSSL objects.
  std::optional<TlsContext> tls_;
  const std::string address_;
  Poller poller_;
  std::atomic<bool> are_running_ = false;  // calls are running; a hint for waiting threads
  std::atomic<bool> is_stopped_ = false;
  bool is_stopping_ = false;  // Stop was called

  std::mutex mutex_;
  std::map<uint64_t, ConnectionPtr> connections_;  // guarded by mutex_, like all below
  uint64_t next_connection_ = kFirstConnection;
  std::deque<ServedCall> waiting_;
  struct Paused {
    ServedCall call;
    SteadyClock::time_point since;
  };
  std::unordered_map<const Http2Stream*, Paused> paused_;
  CallPlaces places_;   // of calls that wait for a thread or run
  int call_count_ = 0;  // these, those that are being responded to, and paused ones
  bool accepts_connections_ = true;
  std::condition_variable call_ended_;

  CallTimes times_;
  CallThreads threads_;
  std::jthread stalled_watch_{[this](const std::stop_token& stop) { WatchStalled(stop); }};
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Start(const TransportOptions& options,
                                                            const Router* router,
                                                            CallObserver* observer) {
  std::optional<TlsContext> tls;
  if (!options.tls.certificate_chain.empty()) {
    STELED_ASSIGN_OR_RETURN(
        tls, TlsContext::Create(options.tls.certificate_chain, options.tls.private_key,
                                options.tls.client_ca));
  }
  STELED_ASSIGN_OR_RETURN(ListeningSocket listening, ListeningSocket::Listen(options.listen));
  auto server = std::make_unique<Http2Transport>(options, router, observer, std::move(listening),
                                                 std::move(tls));
  STELED_RETURN_IF_ERROR(server->Begin());
  return server;
}

}  // namespace stele::server
