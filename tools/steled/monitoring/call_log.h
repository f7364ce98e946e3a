// steled/monitoring/call_log.h: logs calls and connections that a limit of the server refused,
// failed handshakes and slow calls. Refusals that the client caused are not logged.
//
// Each kind has a LogLimit. A line that follows suppressed ones has their number as `suppressed`.
//
// Used by:   steled/server.cc makes it. The transport calls it as a CallObserver
//            (steled/transport/calls/call_observer.h).
// Calls:     the next observer (metrics).
// Threads:   thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "steled/base/log.h"
#include "steled/transport/calls/call_observer.h"

namespace stele::server {

class CallLog final : public CallObserver {
 public:
  // A call that takes `slow_call` or longer is logged; 0: none is. `next` may be null.
  CallLog(std::chrono::milliseconds slow_call, CallObserver* next)
      : slow_call_(slow_call), next_(next) {}

  void OnBegin(const std::string& path) override;
  void OnEnd(const EndedCall& call) override;
  void OnRefused(const RefusedCall& call) override;
  void OnConnectionRefused(const std::string& peer) override;
  void OnHandshakeFailed(const std::string& peer, std::string_view reason) override;

  // Logs the numbers of suppressed lines that no later line has reported.
  void ReportSuppressed();

 private:
  void LogRefusal(const std::string& path, const std::string& peer, absl::StatusCode code,
                  RefusalCause cause);

  const std::chrono::milliseconds slow_call_;
  CallObserver* const next_;
  std::array<LogLimit, kRefusalCauses> refusal_limits_;
  LogLimit handshake_limit_;
  LogLimit slow_call_limit_;
};

}  // namespace stele::server
