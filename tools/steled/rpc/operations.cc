#include "steled/rpc/operations.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "steled/base/errors.h"
#include "steled/rpc/method_table.h"
#include "steled/rpc/no_exceptions.h"
#include "steled/rpc/status.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

// How long Start waits for the end of its work. A client that gets an unfinished operation polls
// only after seconds. At most kRunningMax calls wait at once, an eighth of the places
// for calls of administration.
constexpr std::chrono::milliseconds kAnswerAfter(500);

uint64_t NowMicros() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

// Returns "operations/RESOURCE/" for a collection's name, which may begin with "operations" and end
// with a slash.
std::string CollectionPrefix(std::string name) {
  while (name.ends_with('/')) name.pop_back();
  if (name.ends_with("/operations"))
    name.resize(name.size() - std::string_view("/operations").size());
  if (name.empty()) return "operations/";
  return name == "operations" || name.starts_with("operations/") ? name + "/"
                                                                 : "operations/" + name + "/";
}

// Returns the number at the end of an operation's name; 0, which none has, for other names.
uint64_t NumberOf(std::string_view name) {
  const std::string_view digits = name.substr(name.rfind('/') + 1);
  uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? number : 0;
}

std::chrono::nanoseconds ToNanoseconds(const google::protobuf::Duration& duration,
                                       std::chrono::seconds at_most) {
  const auto whole =
      std::chrono::seconds(std::clamp<int64_t>(duration.seconds(), 0, at_most.count()));
  return std::min<std::chrono::nanoseconds>(
      whole + std::chrono::nanoseconds(std::max(duration.nanos(), 0)), at_most);
}

// Returns `operation` as it ends with `error`.
google::longrunning::Operation EndedWith(google::longrunning::Operation operation,
                                         const absl::Status& error) {
  operation.mutable_error()->set_code(error.raw_code());
  operation.mutable_error()->set_message(ReadableText(error));
  operation.set_done(true);
  return operation;
}

// Returns `operation` as it ends with `outcome`. It keeps its metadata if the outcome has none.
google::longrunning::Operation Ended(google::longrunning::Operation operation,
                                     const Operations::Outcome& outcome) {
  if (!outcome.metadata.type_url().empty()) *operation.mutable_metadata() = outcome.metadata;
  if (!outcome.status.ok()) return EndedWith(std::move(operation), outcome.status);
  *operation.mutable_response() = outcome.response;  // replaces the error
  operation.set_done(true);
  return operation;
}

absl::Status OperationNotFound(const std::string& name) {
  return NotFound("Operation not found: {}", name);
}

}  // namespace

// A call of WaitOperation. The thread that runs its call uses it; NotifyLocked only wakes the call.
class Operations::Waiter final : public PausedCall, public std::enable_shared_from_this<Waiter> {
 public:
  Waiter(Operations* operations, std::string name, std::chrono::steady_clock::time_point until,
         Call* call)
      : operations_(*operations),
        name_(std::move(name)),
        number_(NumberOf(name_)),
        until_(until),
        wake_(call->Waker()) {}
  ~Waiter() override {
    const std::lock_guard lock(operations_.mutex_);
    operations_.waiters_.erase({number_, this});
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void Wake() const { wake_(); }
  std::chrono::steady_clock::time_point until() const override { return until_; }

  // A change after this wakes the call again.
  absl::Status Resume(Call* call) override {
    std::optional<google::longrunning::Operation> answer;
    {
      const std::lock_guard lock(operations_.mutex_);
      const Entry* const entry = operations_.FindLocked(name_);
      if (entry == nullptr) return OperationNotFound(name_);
      const bool is_over = std::chrono::steady_clock::now() >= until_;
      if (is_over || operations_.waits_ended_ || entry->operation.done() || !TakePlaceLocked())
        answer = entry->operation;
    }
    if (answer.has_value()) return SendResponse(*answer, call);
    call->Pause(PauseKind::kForEvent, shared_from_this());
    return absl::OkStatus();
  }

 private:
  // Takes a place among the calls that wait, unless it has one. Returns false if none is free.
  bool TakePlaceLocked() {
    if (operations_.waiters_.contains({number_, this})) return true;
    if (operations_.waiters_.size() >= operations_.wait_limits_.calls) return false;
    operations_.waiters_.insert({number_, this});
    return true;
  }

  Operations& operations_;
  const std::string name_;
  const uint64_t number_;
  const std::chrono::steady_clock::time_point until_;
  const std::function<void()> wake_;
};

Operations::Operations() : Operations(WaitLimits()) {}

// Numbers continue from the time when the server was started.
Operations::Operations(const WaitLimits& wait_limits)
    : wait_limits_(wait_limits), number_(NowMicros()) {}

Operations::~Operations() { Stop(); }

google::longrunning::Operation Operations::AddDone(const std::string& resource,
                                                   const google::protobuf::Message& metadata,
                                                   const google::protobuf::Message& response) {
  const std::lock_guard lock(mutex_);
  google::longrunning::Operation operation = NewOperation(resource, metadata);
  operation.mutable_response()->PackFrom(response);
  operation.set_done(true);
  entries_.emplace(number_, Entry{.operation = operation});
  ForgetOldLocked();
  return operation;
}

google::longrunning::Operation Operations::NewOperation(const std::string& resource,
                                                        const google::protobuf::Message& metadata) {
  google::longrunning::Operation operation;
  operation.set_name(fmt::format("operations/{}/operations/{}", resource, ++number_));
  operation.mutable_metadata()->PackFrom(metadata);
  return operation;
}

absl::StatusOr<google::longrunning::Operation> Operations::Start(
    const std::string& resource, const google::protobuf::Message& metadata, Work work) {
  std::unique_lock lock(mutex_);
  if (stopped_) return MakeStatus(absl::StatusCode::kUnavailable, "The server is about to end");
  if (running_ >= kRunningMax) {
    return Overloaded(
        fmt::format("{} operations are running; try again when one is done", running_),
        absl::StatusCode::kResourceExhausted);
  }
  google::longrunning::Operation operation;
  try {
    operation = NewOperation(resource, metadata);
    AddRunningLocked(operation, std::move(work));
  } catch (const std::exception& error) {
    entries_.erase(number_);
    // The text needs memory, too.
    return StatusOfStep([&] {
      return Overloaded(fmt::format("No thread to run it on ({}); try again later", error.what()),
                        absl::StatusCode::kResourceExhausted);
    });
  }
  const uint64_t number = number_;
  ForgetOldLocked();
  // The entry may be gone: newer operations replace operations that are done.
  auto entry = entries_.end();
  changed_.wait_for(lock, kAnswerAfter, [&] {
    entry = entries_.find(number);
    return entry == entries_.end() || entry->second.operation.done();
  });
  if (entry == entries_.end()) return operation;
  // Without memory for the present state, the client gets the first one. The work runs in any case.
  Completes([&] { operation = google::longrunning::Operation(entry->second.operation); });
  return operation;
}

void Operations::AddRunningLocked(const google::longrunning::Operation& operation, Work work) {
  // The end without memory is made in advance.
  auto run = [this, number = number_, work = std::move(work),
              ended = EndedWith(operation, NoMemory())](const std::stop_token& stop) mutable {
    Outcome outcome;
    try {
      outcome = work(stop);
    } catch (...) {
      outcome.status = StatusOfException();
    }
    work = nullptr;  // destroys the objects that it holds before it counts as done
    Completes([&] { ended = Ended(ended, outcome); });
    Finish(number, &ended);
  };
  Entry& entry = entries_.emplace(number_, Entry{.operation = operation}).first->second;
  entry.thread = std::jthread(std::move(run));
  ++running_;
}

void Operations::Finish(uint64_t number, google::longrunning::Operation* ended) {
  const std::lock_guard lock(mutex_);
  entries_.at(number).operation.Swap(ended);
  --running_;
  NotifyLocked(number);
}

void Operations::NotifyLocked(uint64_t number) {
  changed_.notify_all();
  for (auto waiter = waiters_.lower_bound({number, nullptr});
       waiter != waiters_.end() && waiter->first == number; ++waiter) {
    waiter->second->Wake();
  }
}

void Operations::EndWaits() {
  const std::lock_guard lock(mutex_);
  EndWaitsLocked();
}

void Operations::EndWaitsLocked() {
  waits_ended_ = true;
  for (const auto& [number, waiter] : waiters_) waiter->Wake();
}

// The thread of a finished operation takes no lock any more, so joining it under the lock is safe.
void Operations::ForgetOldLocked() {
  size_t bytes = 0;
  for (const auto& [number, entry] : entries_) bytes += entry.operation.ByteSizeLong();
  for (auto next = entries_.begin(); next != entries_.end();) {
    if (entries_.size() <= kRememberedMax && bytes <= kRememberedBytesMax) break;
    const auto entry = next++;
    if (!entry->second.operation.done() || entry->first == number_) continue;
    bytes -= entry->second.operation.ByteSizeLong();
    entries_.erase(entry);
  }
  std::erase_if(entries_, [](const auto& entry) {
    return entry.second.is_deleted && entry.second.operation.done();
  });
}

void Operations::Stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  for (auto& [number, entry] : entries_) entry.thread.request_stop();
  EndWaitsLocked();
  changed_.wait(lock, [this] { return running_ == 0; });
}

Operations::Entry* Operations::FindLocked(const std::string& name) {
  const auto found = entries_.find(NumberOf(name));
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  return !entry.is_deleted && entry.operation.name() == name ? &entry : nullptr;
}

absl::Status Operations::GetOperation(const google::longrunning::GetOperationRequest& request,
                                      google::longrunning::Operation* response) {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = FindLocked(request.name());
  if (entry == nullptr) return OperationNotFound(request.name());
  *response = entry->operation;
  return absl::OkStatus();
}

// Requests a stop; finished work is not undone.
absl::Status Operations::CancelOperation(const google::longrunning::CancelOperationRequest& request,
                                         google::protobuf::Empty* /*response*/) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = FindLocked(request.name());
  if (entry == nullptr) return OperationNotFound(request.name());
  entry->thread.request_stop();
  return absl::OkStatus();
}

absl::Status Operations::ListOperations(const google::longrunning::ListOperationsRequest& request,
                                        google::longrunning::ListOperationsResponse* response) {
  if (!request.filter().empty())
    return Unimplemented("A filter of operations is not offered; leave it empty");
  if (request.page_size() < 0) return InvalidArgument("page_size must not be negative");
  const int page = request.page_size() == 0 ? kOperationsPerPage
                                            : std::min(request.page_size(), kOperationsPerPage);
  // The token is the number of the last operation on the previous page.
  uint64_t after = 0;
  const std::string& token = request.page_token();
  const auto parsed = std::from_chars(token.data(), token.data() + token.size(), after);
  if (!token.empty() && (parsed.ec != std::errc() || parsed.ptr != token.data() + token.size())) {
    return InField(InvalidArgument("was not given by this server"), "page_token");
  }
  const std::string prefix = CollectionPrefix(request.name());
  const std::lock_guard lock(mutex_);
  uint64_t last = 0;
  for (auto entry = entries_.upper_bound(after); entry != entries_.end(); ++entry) {
    if (entry->second.is_deleted || !entry->second.operation.name().starts_with(prefix)) continue;
    if (response->operations_size() == page) {
      response->set_next_page_token(std::to_string(last));
      break;
    }
    *response->add_operations() = entry->second.operation;
    last = entry->first;
  }
  return absl::OkStatus();
}

absl::Status Operations::DeleteOperation(const google::longrunning::DeleteOperationRequest& request,
                                         google::protobuf::Empty* /*response*/) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = FindLocked(request.name());
  if (entry == nullptr) return OperationNotFound(request.name());
  // Its thread may still run. ForgetOldLocked erases the entry later.
  entry->is_deleted = true;
  NotifyLocked(NumberOf(request.name()));
  return absl::OkStatus();
}

absl::Status Operations::WaitOperation(const google::longrunning::WaitOperationRequest& request,
                                       Call* call) {
  const auto until = std::chrono::steady_clock::now() +
                     (request.has_timeout() ? ToNanoseconds(request.timeout(), wait_limits_.time)
                                            : wait_limits_.time);
  return std::make_shared<Waiter>(this, request.name(), until, call)->Resume(call);
}

}  // namespace stele::server
