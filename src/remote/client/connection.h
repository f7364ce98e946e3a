// remote/client/connection.h: an open remote database: its channels, the parts that all its calls
// share, and closing it.
//
// Errors:    FailedPrecondition after Close, and for a write to a database that was opened
//            read-only.
// Threads:   RemoteConnection is thread-safe; RemoteCall and Attempt are confined to the call that
//            they serve.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "remote/client/backoff.h"
#include "remote/client/location.h"
#include "remote/wire/bigtable.grpc.pb.h"
#include "remote/wire/operations.grpc.pb.h"
#include "remote/wire/table_admin.grpc.pb.h"
#include "stele/options.h"

namespace stele::internal {

// The longest time for one attempt before it counts as failed. Reads have no such limit, since they
// last as long as they return rows (read_stream.h).
inline constexpr std::chrono::seconds kWriteAttempt{20};
inline constexpr std::chrono::seconds kBulkAttempt{60};
inline constexpr std::chrono::seconds kAdminAttempt{300};
// How long a write that is only safe because of its token may be retried. Servers remember tokens
// for 15 minutes; the difference allows for attempts in progress and for different clocks.
inline constexpr std::chrono::minutes kTokenRepeat{12};
// How long calls are retried if no server has responded yet and no connection can be made. The
// location is then probably wrong.
inline constexpr std::chrono::seconds kFirstConnection{10};

class RemoteConnection {
 public:
  // Opens channels, which connect at the first call. `waiter` is null for the system's clock.
  RemoteConnection(RemoteLocation location, const DatabaseOptions& options,
                   std::shared_ptr<Waiter> waiter);

  const RemoteLocation& location() const { return location_; }
  google::bigtable::v2::Bigtable::StubInterface& data() const { return *data_; }
  google::bigtable::admin::v2::BigtableTableAdmin::StubInterface& admin() const { return *admin_; }
  google::longrunning::Operations::StubInterface& operations() const { return *operations_; }
  Waiter& waiter() const { return *waiter_; }
  // The clock for timestamps of cells.
  int64_t NowMicros() const;

  absl::Status CheckOpen() const;
  absl::Status CheckWritable() const;
  // Also cancels running calls.
  void Close() { closing_.request_stop(); }
  std::stop_token closing() const { return closing_.get_token(); }
  // True once a server has responded to any call. Until then the location may be wrong.
  bool has_response() const { return has_response_.load(std::memory_order_relaxed); }
  void NoteResponse() const { has_response_.store(true, std::memory_order_relaxed); }

 private:
  const RemoteLocation location_;
  const bool read_only_;
  const std::shared_ptr<TimestampClock> clock_;  // null: the system's clock
  const std::shared_ptr<Waiter> waiter_;
  std::unique_ptr<google::bigtable::v2::Bigtable::StubInterface> data_;
  std::unique_ptr<google::bigtable::admin::v2::BigtableTableAdmin::StubInterface> admin_;
  std::unique_ptr<google::longrunning::Operations::StubInterface> operations_;
  std::stop_source closing_;
  mutable std::atomic<bool> has_response_ = false;
};

// A user's call with all its attempts. It fails if it made no progress for
// RemoteLocation.retry_time, or for kFirstConnection before the first connection.
class RemoteCall {
 public:
  // `what` names the call in messages.
  RemoteCall(const RemoteConnection* connection, std::string_view what,
             std::optional<SteadyClock::time_point> deadline = std::nullopt,
             std::stop_token stop = {});

  // Waits and returns OK if the failed attempt should be repeated; otherwise returns the reason.
  // `repeatable`: repeating it is harmless.
  absl::Status PauseAfter(const grpc::Status& failed, bool repeatable);
  // Waits after the response of an operation that still runs, as long as after a failure. Restarts
  // the time and the count of failures. Returns the reason if the call must end.
  absl::Status PauseBeforePoll();
  // Sets a time after which the call is not repeated.
  void RepeatUntil(SteadyClock::time_point end) { repeat_until_ = end; }
  // Call when an attempt returned data. Restarts the time and the count of failures.
  void Progress();
  // Returns the reason if the call must end now, even if the attempt succeeds; OK if it may
  // continue.
  absl::Status Ended() const;
  // The time limit for an attempt that may be repeated: less than `most` if a hanging attempt would
  // leave no time for the next one.
  std::chrono::seconds RepeatableAttempt(std::chrono::seconds most) const;
  // The status to return for a call that failed permanently.
  absl::Status Failure(const grpc::Status& failed) const;

  const RemoteConnection& connection() const { return connection_; }
  const std::optional<SteadyClock::time_point>& deadline() const { return deadline_; }
  const std::stop_token& stop() const { return stop_; }

 private:
  const RemoteConnection& connection_;
  const std::string what_;
  const std::optional<SteadyClock::time_point> deadline_;
  const std::stop_token stop_;
  Backoff backoff_;
  SteadyClock::time_point progress_at_;
  SteadyClock::time_point repeat_until_ = SteadyClock::time_point::max();
  int failures_ = 0;  // since the last progress
};

// One RPC of a call: a context with headers and a deadline. It is cancelled when the call is
// stopped or the database is closed.
class Attempt {
 public:
  // `routing` is "table_name=projects/...". Without `limit` only the call's deadline applies.
  Attempt(const RemoteCall& call, std::string_view routing,
          std::optional<std::chrono::seconds> limit);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  grpc::ClientContext* context() { return &context_; }

 private:
  grpc::ClientContext context_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::stop_callback<std::function<void()>> on_closing_;
};

// Repeats `rpc` until it succeeds or the call fails. `rpc` takes a grpc::ClientContext* and returns
// grpc::Status.
template <typename Rpc>
absl::Status CallUntilDone(RemoteCall* call, std::string_view routing, std::chrono::seconds limit,
                           bool repeatable, const Rpc& rpc) {
  if (absl::Status ended = call->Ended(); !ended.ok()) return ended;  // before anything is sent
  while (true) {
    Attempt attempt(*call, routing, repeatable ? call->RepeatableAttempt(limit) : limit);
    const grpc::Status status = rpc(attempt.context());
    if (status.ok()) {
      call->connection().NoteResponse();
      return absl::OkStatus();
    }
    if (absl::Status pause = call->PauseAfter(status, repeatable); !pause.ok()) return pause;
  }
}

}  // namespace stele::internal
