#include "steled/monitoring/call_log.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"

namespace stele::server {
namespace {

// Returns the exhausted limit; "" if the client caused the refusal.
std::string_view LimitOf(RefusalCause cause) {
  switch (cause) {
    case RefusalCause::kCallLimit:
    case RefusalCause::kConnectionCallLimit:
      return "the limit of --max-calls is reached";
    case RefusalCause::kOtherCallLimit:
      return "the limit of calls for administration, operations, reflection and Watches is reached";
    case RefusalCause::kMemory:
      return "the memory for requests is used up";
    case RefusalCause::kConnectionLimit:
      return "the limit of connections is reached";
    default:
      return "";
  }
}

// True for calls that clients keep open for long.
bool WaitsByDesign(std::string_view path) {
  constexpr std::array<std::string_view, 4> kPaths = {
      "/grpc.health.v1.Health/Watch", "/google.longrunning.Operations/WaitOperation",
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};
  return std::find(kPaths.begin(), kPaths.end(), path) != kPaths.end();
}

}  // namespace

void CallLog::OnBegin(const std::string& path) {
  if (next_ != nullptr) next_->OnBegin(path);
}

void CallLog::OnEnd(const EndedCall& call) {
  if (next_ != nullptr) next_->OnEnd(call);
  if (call.is_beyond_memory) LogRefusal(call.path, call.peer, call.code, RefusalCause::kMemory);
  if (slow_call_.count() == 0 || call.elapsed < slow_call_ || WaitsByDesign(call.path)) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(call.elapsed);
  LogLimited(&slow_call_limit_, LogLevel::kWarning, "a call was slow",
             {{"method", call.path},
              {"code", absl::StatusCodeToString(call.code)},
              {"duration_ms", static_cast<int64_t>(elapsed.count())},
              {"received_bytes", static_cast<int64_t>(call.received_bytes)},
              {"sent_bytes", static_cast<int64_t>(call.sent_bytes)},
              {"peer", call.peer}});
}

void CallLog::OnRefused(const RefusedCall& call) {
  if (next_ != nullptr) next_->OnRefused(call);
  LogRefusal(call.path, call.peer, call.code, call.cause);
}

void CallLog::LogRefusal(const std::string& path, const std::string& peer, absl::StatusCode code,
                         RefusalCause cause) {
  const std::string_view limit = LimitOf(cause);
  if (limit.empty()) return;
  LogLimited(&refusal_limits_[static_cast<size_t>(cause)], LogLevel::kWarning,
             "a call was refused: " + std::string(limit),
             {{"cause", std::string(NameOf(cause))},
              {"method", path},
              {"code", absl::StatusCodeToString(code)},
              {"peer", peer}});
}

void CallLog::OnConnectionRefused(const std::string& peer) {
  if (next_ != nullptr) next_->OnConnectionRefused(peer);
  constexpr RefusalCause kCause = RefusalCause::kConnectionLimit;
  LogLimited(&refusal_limits_[static_cast<size_t>(kCause)], LogLevel::kWarning,
             "a connection was refused: " + std::string(LimitOf(kCause)),
             {{"cause", std::string(NameOf(kCause))}, {"peer", peer}});
}

void CallLog::OnHandshakeFailed(const std::string& peer, std::string_view reason) {
  if (next_ != nullptr) next_->OnHandshakeFailed(peer, reason);
  LogLimited(&handshake_limit_, LogLevel::kWarning, "a handshake failed",
             {{"reason", std::string(reason)}, {"peer", peer}});
}

void CallLog::ReportSuppressed() {
  const auto report = [](LogLimit* limit, std::string_view kind) {
    if (const int64_t suppressed = limit->TakeSuppressed(); suppressed > 0) {
      Log(LogLevel::kWarning, "lines of one kind were suppressed",
          {{"kind", std::string(kind)}, {"suppressed", suppressed}});
    }
  };
  for (size_t cause = 0; cause < refusal_limits_.size(); ++cause)
    report(&refusal_limits_[cause], NameOf(static_cast<RefusalCause>(cause)));
  report(&handshake_limit_, "failed_handshake");
  report(&slow_call_limit_, "slow_call");
}

}  // namespace stele::server
