#include "transport/transport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "errors.h"
#include "transport/call_threads.h"
#include "transport/call_times.h"
#include "transport/http2_connection.h"
#include "transport/listening_socket.h"
#include "transport/poller.h"
#include "transport/socket.h"
#include "transport/tls.h"

namespace stele::server {
namespace {

using SteadyClock = std::chrono::steady_clock;
using ConnectionPtr = std::shared_ptr<Http2Connection>;

constexpr uint64_t kListening = 1;
constexpr uint64_t kFirstConnection = 2;
constexpr std::chrono::seconds kIdle(10);  // after which a thread too many ends
constexpr std::chrono::seconds kStalledLook(1);
constexpr std::chrono::seconds kShrinkAfter(1);  // a client that reads nothing for so long is slow
// For clients to read what calls answered that were stopped.
constexpr std::chrono::milliseconds kLastWords(500);

// A call on its way through the server.
class ServedCall final : public Call {
 public:
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

  bool Reserve(size_t bytes) override { return connection_->Reserve(stream_.get(), bytes); }
  bool Receive(std::string* message) override {
    if (!connection_->Receive(stream_.get(), message)) return false;
    received_bytes_ += message->size();
    return true;
  }
  bool Send(std::string framed, bool is_last) override {
    sent_bytes_ += framed.size() - kPrefixBytes;
    return connection_->Send(stream_.get(), std::move(framed), is_last);
  }
  bool HasMore() const override { return connection_->HasMore(*stream_); }
  bool CanSend() const override { return connection_->CanSend(*stream_); }
  void Pause(std::shared_ptr<PausedCall> rest) override { rest_ = std::move(rest); }

  absl::Status Handle() {
    const std::shared_ptr<PausedCall> rest = std::move(rest_);
    // It may have waited for a thread, or its client for a connection: nobody counts on its effect any more.
    STELED_RETURN_IF_ERROR(CheckAwaited(*this));
    try {
      return rest == nullptr ? (*stream_->method)(this) : rest->Resume(this);
    } catch (const std::exception& error) {  // what a library throws ends a call, not the server
      rest_ = nullptr;
      return MakeStatus(absl::StatusCode::kInternal, error.what());
    }
  }
  // The method asked to be paused.
  SteadyClock::time_point begin() const { return begin_; }
  void SetBegin(SteadyClock::time_point begin) { begin_ = begin; }
  bool IsPaused() const { return rest_ != nullptr; }
  PausedCall* rest() const { return rest_.get(); }
  absl::StatusCode Finish(const absl::Status& status) { return connection_->Finish(stream_.get(), status); }

  const ConnectionPtr& connection() const { return connection_; }
  const Http2Connection::StreamPtr& stream() const { return stream_; }
  size_t received_bytes() const { return received_bytes_; }
  size_t sent_bytes() const { return sent_bytes_; }

 private:
  ConnectionPtr connection_;
  Http2Connection::StreamPtr stream_;
  std::shared_ptr<PausedCall> rest_;  // null: the method is to be run, or has ended
  SteadyClock::time_point begin_;
  size_t received_bytes_ = 0;
  size_t sent_bytes_ = 0;
};

// What connections ask for. An object of its own, which stays whole until the last thread has ended.
class Host final : public ConnectionHost {
 public:
  Host(const TransportOptions& options, const Router* router, CallObserver* observer, std::function<void(const Http2Stream*)> resume)
      : options_(options), router_(*router), observer_(observer), resume_(std::move(resume)) {}

  const Method* FindMethod(std::string_view path) const override { return router_.Find(path); }
  bool IsAskedFor(std::string_view name) const override {
    return std::find(options_.metadata.begin(), options_.metadata.end(), name) != options_.metadata.end();
  }
  const TransportTrailers& trailers() const override { return options_.trailers; }
  size_t message_bytes_max() const override { return options_.message_bytes_max; }
  bool ReserveRequestBytes(size_t bytes) override {
    if (request_bytes_.fetch_add(bytes) + bytes <= options_.request_memory_bytes) return true;
    request_bytes_.fetch_sub(bytes);
    return false;
  }
  void ReleaseRequestBytes(size_t bytes) override { request_bytes_.fetch_sub(bytes); }
  void OnRefused(const std::string& path, absl::StatusCode code) override {
    if (observer_ != nullptr) observer_->OnRefused(path, code);
  }
  size_t connection_answer_bytes_max() const override { return options_.request_memory_bytes / 4; }
  void OnResumed(const Http2Stream* stream) override { resume_(stream); }

 private:
  const TransportOptions& options_;
  const Router& router_;
  CallObserver* const observer_;  // may be null
  const std::function<void(const Http2Stream*)> resume_;
  std::atomic<size_t> request_bytes_ = 0;
};

std::vector<const Method*> MethodsOf(const std::vector<std::string>& paths, const Router& router) {
  std::vector<const Method*> methods;
  for (const std::string& path : paths) methods.push_back(router.Find(path));
  return methods;
}

class Http2Transport final : public Transport {
 public:
  Http2Transport(const TransportOptions& options, const Router* router, CallObserver* observer, ListeningSocket listening,
                 std::optional<TlsContext> tls)
      : options_(options),
        host_(options_, router, observer, [this](const Http2Stream* stream) { Resume(stream); }),
        observer_(observer),
        listening_(std::move(listening)),
        tls_(std::move(tls)),
        address_(listening_.address()),
        times_(MethodsOf(options.syncing, *router)),
        // Two beside those that run calls: one waits for events, so that a call can be given up while all run.
        threads_([this] { return TakeTurn(); }, options.calls_max + kOtherCallsMax + 2) {}

  ~Http2Transport() override { Stop(std::chrono::milliseconds(0)); }

  absl::Status Begin() {
    STELED_RETURN_IF_ERROR(poller_.status());
    if (!poller_.Add(listening_.descriptor(), kListening)) return MakeStatus(absl::StatusCode::kUnavailable, "cannot wait for connections");
    threads_.Start();
    return absl::OkStatus();
  }

  const std::string& address() const override { return address_; }

  absl::Status UseTls(const TlsFiles& tls) override {
    STELED_ASSIGN_OR_RETURN(TlsContext context, TlsContext::Create(tls.certificate_chain, tls.private_key, tls.client_ca));
    const std::lock_guard lock(tls_mutex_);
    tls_ = std::move(context);
    return absl::OkStatus();
  }

  void Stop(std::chrono::milliseconds grace) override {
    if (std::exchange(is_stopping_, true)) return;
    stalled_watch_.request_stop();
    {
      const std::lock_guard lock(listening_mutex_);
      listening_.Close();
    }
    SteadyClock::time_point end = SteadyClock::now() + grace;
    {
      const std::lock_guard lock(mutex_);
      is_draining_ = true;
    }
    for (const ConnectionPtr& connection : Connections()) connection->Drain();
    {
      std::unique_lock lock(mutex_);
      const auto is_idle = [this] { return call_count_ == 0; };
      if (!call_ended_.wait_until(lock, end, is_idle)) {
        lock.unlock();
        for (const ConnectionPtr& connection : Connections()) connection->StopCalls();
        lock.lock();
        call_ended_.wait(lock, is_idle);
        end = SteadyClock::now() + std::min(grace, kLastWords);
      }
    }
    for (const ConnectionPtr& connection : Connections()) connection->AwaitRead(end);
    for (const ConnectionPtr& connection : Connections()) connection->Close();
    is_stopped_ = true;
    poller_.Wake();
    threads_.Wait();
  }

 private:
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

  // The first call of what came is run here and now; the others are for other threads.
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
      if (const absl::Status admitted = Admit(call); !admitted.ok()) {
        call.Finish(admitted);
        host_.OnRefused(call.path(), admitted.code());
      } else if (!first.has_value()) {
        first.emplace(std::move(call));
      } else {
        Defer(std::move(call));
      }
    }
    if (ready == Http2Connection::Ready::kOver) Remove(id);
    if (first.has_value()) RunCall(&*first);
  }

  absl::Status Admit(const ServedCall& call) {
    const std::lock_guard lock(mutex_);
    if (is_draining_) return MakeStatus(absl::StatusCode::kUnavailable, "The server ends");
    const int most = IsLimited(call) ? options_.calls_max : kOtherCallsMax;
    if (PlacesTaken(call) >= most) {
      return MakeStatus(absl::StatusCode::kUnavailable, fmt::format("{} calls run already; try again later", most));
    }
    if (IsLimited(call) && *call.connection()->call_count() >= (most + 1) / 2) {
      return MakeStatus(absl::StatusCode::kUnavailable,
                        fmt::format("{} calls of this connection run already; try again later", (most + 1) / 2));
    }
    TakePlace(call);
    ++call_count_;
    are_running_ = true;
    return absl::OkStatus();
  }

  bool IsLimited(const ServedCall& call) const { return call.path().starts_with(options_.limited_prefix); }

  // These three under the lock.
  int& PlacesTaken(const ServedCall& call) { return IsLimited(call) ? limited_count_ : other_count_; }
  void TakePlace(const ServedCall& call) {
    ++PlacesTaken(call);
    if (IsLimited(call)) ++*call.connection()->call_count();
  }
  void LeavePlace(const ServedCall& call) {
    --PlacesTaken(call);
    if (IsLimited(call)) --*call.connection()->call_count();
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
    if (are_more) poller_.Wake();  // wakes may have been told as one
    RunCall(&*call);
    return true;
  }

  void RunCall(ServedCall* call) {
    threads_.BeginCall(times_.AreShort(call->method(), !times_.Syncs(call->method()) || IsOnlyCall()));
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
      LeavePlace(*call);  // before the client hears of the end, and asks for the next
    }
    if (call->IsPaused()) {
      KeepPaused(std::move(*call));
      return threads_.EndCall();
    }
    const absl::StatusCode code = call->Finish(status);
    if (observer_ != nullptr) {
      observer_->OnEnd(call->path(), code, SteadyClock::now() - call->begin(), call->received_bytes(), call->sent_bytes());
    }
    threads_.EndCall();
    const std::lock_guard lock(mutex_);
    --call_count_;
    UpdateRunning();
    if (call_count_ == 0 && is_draining_) call_ended_.notify_all();
  }

  // Under the lock.
  int RunningCount() const { return call_count_ - static_cast<int>(paused_.size()); }
  void UpdateRunning() { are_running_ = RunningCount() > 0; }

  // ---- calls that wait for their clients to read ----

  void KeepPaused(ServedCall call) {
    const ConnectionPtr connection = call.connection();
    const Http2Connection::StreamPtr stream = call.stream();
    {
      const std::lock_guard lock(mutex_);
      paused_.emplace(stream.get(), Paused{std::move(call), SteadyClock::now()});
      UpdateRunning();
    }
    connection->Pause(stream.get());
  }

  // Under the lock of the stream's connection.
  void Resume(const Http2Stream* stream) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = paused_.find(stream);
      if (found == paused_.end()) return;
      waiting_.push_back(std::move(found->second.call));
      paused_.erase(found);
      TakePlace(waiting_.back());
      UpdateRunning();
    }
    poller_.Wake();
  }

  // What a client is slow to read holds no more than it has to. Those whose deadline has passed end.
  void ShrinkPaused() {
    const SteadyClock::time_point now = SteadyClock::now();
    std::vector<std::shared_ptr<void>> given_away;  // let go of without the lock
    std::vector<const Http2Stream*> late;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [stream, paused] : paused_) {
        if (paused.since < now - kShrinkAfter) given_away.push_back(paused.call.rest()->Shrink());
        const auto deadline = paused.call.deadline();
        if (deadline.has_value() && *deadline <= now) late.push_back(stream);
      }
    }
    for (const Http2Stream* const stream : late) Resume(stream);
  }

  // ---- connections ----

  void AcceptAll() {
    while (true) {
      const int descriptor = AcceptOne();
      if (descriptor < 0) return;
      const std::optional<TlsContext> tls = Tls();
      std::unique_ptr<Socket> socket = tls.has_value() ? NewTlsSocket(descriptor, *tls) : NewPlainSocket(descriptor);
      if (socket == nullptr) continue;
      const auto connection = std::make_shared<Http2Connection>(std::move(socket), &host_);
      uint64_t id = 0;
      {
        const std::lock_guard lock(mutex_);
        if (is_draining_) continue;                                     // the others have been told, and nobody would look after this one
        if (connections_.size() >= options_.connections_max) continue;  // it is closed, and its client tries again
        id = next_connection_++;
        connections_.emplace(id, connection);
      }
      // What came before is told now.
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

  void GiveUpStalled() {
    std::vector<uint64_t> silent;
    const SteadyClock::time_point since = SteadyClock::now() - options_.patience;
    const SteadyClock::time_point begun_since = SteadyClock::now() - options_.request_time_max;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, connection] : connections_) {
        if (connection->since() < since && !connection->IsGreeted()) silent.push_back(id);
      }
    }
    for (const uint64_t id : silent) Remove(id);
    for (const ConnectionPtr& connection : Connections()) connection->GiveUpStalled(since, begun_since);
  }

  void EndUnread() {
    const SteadyClock::time_point now = SteadyClock::now();
    const Http2Connection::Patience patience{.since = now - options_.stall_timeout,
                                             .ping_since = now - options_.ping_after,
                                             .silent_since = now - options_.ping_after - options_.patience};
    std::map<uint64_t, ConnectionPtr> connections;
    {
      const std::lock_guard lock(mutex_);
      connections = connections_;
    }
    for (const auto& [id, connection] : connections) {
      if (!connection->EndUnread(patience)) Remove(id);
    }
  }

  void WatchStalled(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      never.wait_for(lock, stop, kStalledLook, [] { return false; });
      GiveUpStalled();
      EndUnread();
      ShrinkPaused();
      AcceptAll();  // whom an error kept out
    }
  }

  const TransportOptions options_;
  Host host_;
  CallObserver* const observer_;  // may be null
  std::mutex listening_mutex_;
  ListeningSocket listening_;  // guarded by listening_mutex_
  std::mutex tls_mutex_;
  std::optional<TlsContext> tls_;  // guarded by tls_mutex_; its sockets share what it points to
  const std::string address_;
  Poller poller_;
  std::atomic<bool> are_running_ = false;  // calls; a hint for who waits
  std::atomic<bool> is_stopped_ = false;
  bool is_stopping_ = false;  // Stop was called

  std::mutex mutex_;
  std::map<uint64_t, ConnectionPtr> connections_;  // guarded by mutex_, as all below
  uint64_t next_connection_ = kFirstConnection;
  std::deque<ServedCall> waiting_;
  struct Paused {
    ServedCall call;
    SteadyClock::time_point since;
  };
  std::unordered_map<const Http2Stream*, Paused> paused_;
  int limited_count_ = 0;  // calls that wait or run, of limited_prefix
  int other_count_ = 0;    // the others
  int call_count_ = 0;     // these, those that are being answered, and those that are paused
  bool is_draining_ = false;
  std::condition_variable call_ended_;

  CallTimes times_;
  CallThreads threads_;
  std::jthread stalled_watch_{[this](const std::stop_token& stop) { WatchStalled(stop); }};
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Start(const TransportOptions& options, const Router* router, CallObserver* observer) {
  std::optional<TlsContext> tls;
  if (!options.tls.certificate_chain.empty()) {
    STELED_ASSIGN_OR_RETURN(tls, TlsContext::Create(options.tls.certificate_chain, options.tls.private_key, options.tls.client_ca));
  }
  STELED_ASSIGN_OR_RETURN(ListeningSocket listening, ListeningSocket::Listen(options.listen));
  auto server = std::make_unique<Http2Transport>(options, router, observer, std::move(listening), std::move(tls));
  STELED_RETURN_IF_ERROR(server->Begin());
  return server;
}

}  // namespace stele::server
