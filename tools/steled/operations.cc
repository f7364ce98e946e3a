#include "operations.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "errors.h"
#include "status.h"

namespace stele::server {
namespace {

// A client that is told "not yet" asks again only after seconds.
constexpr std::chrono::milliseconds kAnswerAfter(500);

uint64_t NowMicros() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

absl::Status OperationNotFound(const std::string& name) { return NotFound("Operation not found: {}", name); }

}  // namespace

// Numbers go on from the time at which the server was started.
Operations::Operations() : number_(NowMicros()) {}

Operations::~Operations() { Stop(); }

google::longrunning::Operation Operations::AddDone(const std::string& resource, const google::protobuf::Message& metadata,
                                                   const google::protobuf::Message& response) {
  const std::lock_guard lock(mutex_);
  google::longrunning::Operation operation = NewOperation(resource, metadata);
  operation.mutable_response()->PackFrom(response);
  operation.set_done(true);
  entries_[number_].operation = operation;
  ForgetOldLocked();
  return operation;
}

google::longrunning::Operation Operations::NewOperation(const std::string& resource, const google::protobuf::Message& metadata) {
  google::longrunning::Operation operation;
  operation.set_name(fmt::format("operations/{}/operations/{}", resource, ++number_));
  operation.mutable_metadata()->PackFrom(metadata);
  return operation;
}

absl::StatusOr<google::longrunning::Operation> Operations::Start(const std::string& resource, const google::protobuf::Message& metadata,
                                                                 Work work) {
  std::unique_lock lock(mutex_);
  if (stopped_) return MakeStatus(absl::StatusCode::kUnavailable, "The server is about to end");
  if (running_ >= kRunningMax) {
    return MakeStatus(absl::StatusCode::kResourceExhausted, fmt::format("{} operations are running; try again when one is done", running_));
  }
  google::longrunning::Operation operation = NewOperation(resource, metadata);
  const uint64_t number = number_;
  // What the work holds is let go before it counts as done.
  auto run = [this, number, work = std::move(work)](const std::stop_token& stop) mutable {
    const Outcome outcome = work(stop);
    work = nullptr;
    Finish(number, outcome);
  };
  std::jthread thread;
  try {
    thread = std::jthread(std::move(run));
  } catch (const std::system_error& error) {
    return MakeStatus(absl::StatusCode::kResourceExhausted, fmt::format("No thread to run it on ({}); try again later", error.what()));
  }
  ++running_;
  entries_[number] = {operation, std::move(thread)};
  ForgetOldLocked();
  // Once it is done others' may push it out.
  changed_.wait_for(lock, kAnswerAfter, [&] {
    const auto entry = entries_.find(number);
    if (entry != entries_.end()) operation = entry->second.operation;
    return operation.done() || entry == entries_.end();
  });
  return operation;
}

void Operations::Finish(uint64_t number, const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  google::longrunning::Operation& operation = entries_.at(number).operation;
  *operation.mutable_metadata() = outcome.metadata;
  if (outcome.status.ok()) {
    *operation.mutable_response() = outcome.response;
  } else {
    operation.mutable_error()->set_code(outcome.status.raw_code());
    operation.mutable_error()->set_message(ReadableText(outcome.status));
  }
  operation.set_done(true);
  --running_;
  changed_.notify_all();
}

// A thread whose operation is done takes no lock any more, so that its end can be waited for under one.
void Operations::ForgetOldLocked() {
  for (auto entry = entries_.begin(); entry != entries_.end() && entries_.size() > kKept;) {
    entry = entry->second.operation.done() ? entries_.erase(entry) : std::next(entry);
  }
}

void Operations::Stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  for (auto& [number, entry] : entries_) entry.thread.request_stop();
  changed_.wait(lock, [this] { return running_ == 0; });
}

Operations::Entry* Operations::FindLocked(const std::string& name) {
  for (auto& [number, entry] : entries_) {
    if (entry.operation.name() == name) return &entry;
  }
  return nullptr;
}

absl::Status Operations::GetOperation(const google::longrunning::GetOperationRequest& request, google::longrunning::Operation* response) {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = FindLocked(request.name());
  if (entry == nullptr) return OperationNotFound(request.name());
  *response = entry->operation;
  return absl::OkStatus();
}

// Asks for an end; what is done stays done.
absl::Status Operations::CancelOperation(const google::longrunning::CancelOperationRequest& request,
                                         google::protobuf::Empty* /*response*/) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = FindLocked(request.name());
  if (entry == nullptr) return OperationNotFound(request.name());
  entry->thread.request_stop();
  return absl::OkStatus();
}

}  // namespace stele::server
