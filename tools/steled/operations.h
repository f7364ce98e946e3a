// steled/operations.h: google.longrunning.Operations: work that is done beside the call that asked for it.
//
// Most work is done before it is answered; what may take long gets a thread of its own. Clients ask for an operation by its name even when
// its answer said that it was done. The newest kKept are remembered, in memory; a name never comes again, also after a restart.
//
// Errors:    NOT_FOUND for a name that was never given, or was given too long ago; RESOURCE_EXHAUSTED beyond kRunningMax at once, and where
//            the system gives no thread.
// Threads:   thread-safe. Work may use whatever outlives Stop(), or the Operations.
// Source:    google.longrunning.Operations.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "wire/operations.pb.h"

namespace stele::server {

class Operations {
 public:
  // How work ended; metadata and response as the operation shows them then. No response beside an error.
  struct Outcome {
    absl::Status status;
    google::protobuf::Any metadata;
    google::protobuf::Any response;
  };
  using Work = std::function<Outcome(const std::stop_token&)>;

  Operations();
  ~Operations();

  // Makes an operation that is done, with `metadata` and `response`, under a name of its own.
  google::longrunning::Operation AddDone(const std::string& resource, const google::protobuf::Message& metadata,
                                         const google::protobuf::Message& response);

  // Begins `work`, and waits for it a moment, so that what is soon done is answered as done. Its token is stopped by CancelOperation and
  // Stop().
  absl::StatusOr<google::longrunning::Operation> Start(const std::string& resource, const google::protobuf::Message& metadata, Work work);

  // Stops what runs and waits for it; from then on Start answers Unavailable.
  void Stop();

  // The methods of the service, in unary calls.
  absl::Status GetOperation(const google::longrunning::GetOperationRequest& request, google::longrunning::Operation* response);
  absl::Status CancelOperation(const google::longrunning::CancelOperationRequest& request, google::protobuf::Empty* response);

 private:
  static constexpr size_t kKept = 1000;
  static constexpr size_t kRunningMax = 8;

  struct Entry {
    google::longrunning::Operation operation;
    std::jthread thread;  // of what is not done before it is answered
  };

  google::longrunning::Operation NewOperation(const std::string& resource, const google::protobuf::Message& metadata);
  Entry* FindLocked(const std::string& name);
  void ForgetOldLocked();
  void Finish(uint64_t number, const Outcome& outcome);

  std::mutex mutex_;
  std::condition_variable changed_;    // an operation was done
  bool stopped_ = false;               // guarded by mutex_
  size_t running_ = 0;                 // guarded by mutex_
  uint64_t number_ = 0;                // of the newest; guarded by mutex_
  std::map<uint64_t, Entry> entries_;  // guarded by mutex_, all but the threads' joining
};

}  // namespace stele::server
