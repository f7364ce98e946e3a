// steled/rpc/operations.h: implements google.longrunning.Operations: work that may continue after
// its call has returned.
//
// Most work is done before the call returns; work that may take long gets a separate thread.
// Clients look up an operation by its name even if it was already done. The newest operations are
// remembered, in memory: at most kRememberedMax, and as many as have kRememberedBytesMax bytes. A
// name is never reused, also after a restart.
//
// Errors:    NOT_FOUND for a name that was never assigned, or too long ago; RESOURCE_EXHAUSTED if
//            kRunningMax are running, or if the system refuses a thread or memory. Work that
//            throws ends with the error of its exception (StatusOfException).
// Threads:   thread-safe. The objects that work uses must live until Stop() has returned, or longer
//            than this object. Calls of WaitOperation must have ended before it is destroyed.
// Source:    google.longrunning.Operations.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/operations.pb.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

class Operations {
 public:
  // The result of work. It becomes the operation's metadata and response. With an error there is no
  // response.
  struct Outcome {
    absl::Status status;
    google::protobuf::Any metadata;
    google::protobuf::Any response;
  };
  using Work = std::function<Outcome(const std::stop_token&)>;
  // The limits of WaitOperation. The API lets a server return early.
  struct WaitLimits {
    size_t calls = 1024;            // that wait at one time
    std::chrono::seconds time{30};  // of a call
  };

  Operations();
  explicit Operations(const WaitLimits& wait_limits);
  ~Operations();

  // Creates an operation that is done, with `metadata` and `response`, under a new name.
  google::longrunning::Operation AddDone(const std::string& resource,
                                         const google::protobuf::Message& metadata,
                                         const google::protobuf::Message& response);

  // Starts `work`, and waits for it briefly, so that short work is returned as done. At most
  // kRunningMax calls wait at one time, since calls above that are refused. CancelOperation and
  // Stop() stop the token of the work.
  absl::StatusOr<google::longrunning::Operation> Start(const std::string& resource,
                                                       const google::protobuf::Message& metadata,
                                                       Work work);

  // Ends the waits of all present and future calls of WaitOperation: they send the present state.
  // To be called before the transport stops, which ends calls that wait with UNAVAILABLE.
  void EndWaits();
  // Stops running work and waits for it. Start returns Unavailable from then on. Calls EndWaits.
  void Stop();

  // The methods of the service, as unary calls.
  absl::Status GetOperation(const google::longrunning::GetOperationRequest& request,
                            google::longrunning::Operation* response);
  absl::Status CancelOperation(const google::longrunning::CancelOperationRequest& request,
                               google::protobuf::Empty* response);
  // Lists the operations of a collection, oldest first: "operations" has all,
  // "operations/projects/P" those of a project.
  absl::Status ListOperations(const google::longrunning::ListOperationsRequest& request,
                              google::longrunning::ListOperationsResponse* response);
  // Forgets an operation. Running work continues.
  absl::Status DeleteOperation(const google::longrunning::DeleteOperationRequest& request,
                               google::protobuf::Empty* response);
  // Pauses the call until the operation is done, or the timeout or WaitLimits::time is over, and
  // sends its state. Above WaitLimits::calls it sends the state at once.
  absl::Status WaitOperation(const google::longrunning::WaitOperationRequest& request, Call* call);

 private:
  static constexpr size_t kRememberedMax = 1000;
  static constexpr size_t kRememberedBytesMax = size_t{16} << 20;
  static constexpr size_t kRunningMax = 8;
  static constexpr int kOperationsPerPage = 100;

  class Waiter;
  struct Entry {
    google::longrunning::Operation operation;
    std::jthread thread;      // for work that is not done before its call returns
    bool is_deleted = false;  // DeleteOperation was called while it ran
  };

  google::longrunning::Operation NewOperation(const std::string& resource,
                                              const google::protobuf::Message& metadata);
  Entry* FindLocked(const std::string& name);
  void ForgetOldLocked();
  // Adds the operation that NewOperation created, and runs the work on a thread. If it throws,
  // the entry may exist and the work does not run.
  void AddRunningLocked(const google::longrunning::Operation& operation, Work work);
  // Stores the operation as it has ended. Needs no memory.
  void Finish(uint64_t number, google::longrunning::Operation* ended);
  // Tells threads and paused calls that an operation is done or deleted.
  void NotifyLocked(uint64_t number);
  void EndWaitsLocked();

  const WaitLimits wait_limits_;
  std::mutex mutex_;
  std::condition_variable changed_;  // NotifyLocked was called
  bool stopped_ = false;             // guarded by mutex_
  bool waits_ended_ = false;         // guarded by mutex_
  size_t running_ = 0;               // guarded by mutex_
  // Paused calls of WaitOperation, by the operation's number; guarded by mutex_.
  std::set<std::pair<uint64_t, const Waiter*>> waiters_;
  uint64_t number_ = 0;                // of the newest; guarded by mutex_
  std::map<uint64_t, Entry> entries_;  // guarded by mutex_, except for joining the threads
};

}  // namespace stele::server
