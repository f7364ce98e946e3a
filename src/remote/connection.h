// remote/connection.h: one open remote database: its channels, what every call of it has in common, and its end.
//
// Errors:    FailedPrecondition after Close, and for a write where the database was opened to read only.
// Threads:   RemoteConnection is thread-safe; RemoteCall and Attempt are confined to the call that they serve.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "remote/backoff.h"
#include "remote/location.h"
#include "stele/options.h"
#include "wire/bigtable.grpc.pb.h"
#include "wire/operations.grpc.pb.h"
#include "wire/table_admin.grpc.pb.h"

namespace stele::internal {

// How long one attempt may take at most before it counts as failed. A read is not bounded so: it takes as long as it gives rows
// (read_stream.h).
inline constexpr std::chrono::seconds kWriteAttempt{20};
inline constexpr std::chrono::seconds kBulkAttempt{60};
inline constexpr std::chrono::seconds kAdminAttempt{300};
// How long what is harmless under its token alone may be begun again. Servers remember tokens for 15 minutes; the rest is for attempts that
// are on their way, and for clocks that differ.
inline constexpr std::chrono::minutes kTokenRepeat{12};

class RemoteConnection {
 public:
  // Opens channels, which connect at the first call. `waiter`: null for the system's time.
  RemoteConnection(RemoteLocation location, const DatabaseOptions& options, std::shared_ptr<Waiter> waiter);

  const RemoteLocation& location() const { return location_; }
  google::bigtable::v2::Bigtable::StubInterface& data() const { return *data_; }
  google::bigtable::admin::v2::BigtableTableAdmin::StubInterface& admin() const { return *admin_; }
  google::longrunning::Operations::StubInterface& operations() const { return *operations_; }
  Waiter& waiter() const { return *waiter_; }
  // What stamps cells.
  int64_t NowMicros() const;

  absl::Status CheckOpen() const;
  absl::Status CheckWritable() const;
  // Ends running calls, too.
  void Close() { closing_.request_stop(); }
  std::stop_token closing() const { return closing_.get_token(); }

 private:
  const RemoteLocation location_;
  const bool read_only_;
  const std::shared_ptr<Clock> clock_;  // null: the system's
  const std::shared_ptr<Waiter> waiter_;
  std::unique_ptr<google::bigtable::v2::Bigtable::StubInterface> data_;
  std::unique_ptr<google::bigtable::admin::v2::BigtableTableAdmin::StubInterface> admin_;
  std::unique_ptr<google::longrunning::Operations::StubInterface> operations_;
  std::stop_source closing_;
};

// A user's call: all its attempts together. It is given up when it has not got on for RemoteLocation.retry_time.
class RemoteCall {
 public:
  // `what` names the call in messages.
  RemoteCall(const RemoteConnection* connection, std::string_view what, std::optional<SteadyClock::time_point> deadline = std::nullopt,
             std::stop_token stop = {});

  // Waits and answers OK if the failed attempt is to be made again, else says why not. `repeatable`: to make it twice does no harm.
  absl::Status PauseAfter(const grpc::Status& failed, bool repeatable);
  // It is not begun again after that time, whatever comes.
  void RepeatUntil(SteadyClock::time_point end) { repeat_until_ = end; }
  // The attempt brought something: what is counted from the last progress begins anew.
  void Progress();
  // Why it must not go on, whatever becomes of the attempt; OK if it may.
  absl::Status Ended() const;
  // How long an attempt may take that may be made again: less than `most` where a hung one would leave no time for the next.
  std::chrono::seconds RepeatableAttempt(std::chrono::seconds most) const;
  // The status to answer for a call that failed for good.
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
  SteadyClock::time_point give_up_;
  SteadyClock::time_point repeat_until_ = SteadyClock::time_point::max();
  int failures_ = 0;  // since the last progress
};

// One RPC of a call: a context with its headers and its deadline, cancelled when the call is stopped or the database closed.
class Attempt {
 public:
  // `routing`: "table_name=projects/..."; `limit`: none but the call's own deadline.
  Attempt(const RemoteCall& call, std::string_view routing, std::optional<std::chrono::seconds> limit);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  grpc::ClientContext* context() { return &context_; }

 private:
  grpc::ClientContext context_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::stop_callback<std::function<void()>> on_closing_;
};

// Makes `call` until it succeeds or is given up. `rpc` gets a grpc::ClientContext* and answers grpc::Status.
template <typename Rpc>
absl::Status CallUntilDone(RemoteCall* call, std::string_view routing, std::chrono::seconds limit, bool repeatable, const Rpc& rpc) {
  if (absl::Status ended = call->Ended(); !ended.ok()) return ended;  // before anything is sent
  while (true) {
    Attempt attempt(*call, routing, repeatable ? call->RepeatableAttempt(limit) : limit);
    const grpc::Status status = rpc(attempt.context());
    if (status.ok()) return absl::OkStatus();
    if (absl::Status pause = call->PauseAfter(status, repeatable); !pause.ok()) return pause;
  }
}

}  // namespace stele::internal
