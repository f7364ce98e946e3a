// steled/rpc/answer_stream.h: sends a response of many messages, and pauses the call while its
// client does not read.
//
// Used by:   steled/services/data_service.cc.
// Calls:     steled/transport/calls/call.h (Send).
// Errors:    CANCELLED once no client listens.
// Threads:   one at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "steled/rpc/method_table.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

class AnswerStream final : public PausedCall, public std::enable_shared_from_this<AnswerStream> {
 public:
  // Returns the next message, which begins with kPrefixBytes (call.h), and sets `is_last` for the
  // last one. After that it is not called. It must own its data, because the method that made it
  // returns at a pause.
  using NextMessage = std::function<std::string(bool* is_last)>;

  explicit AnswerStream(NextMessage next) : next_(std::move(next)) {}

  // Sends messages to the end, or until Send would wait. Then it pauses the call.
  absl::Status Run(Call* call) {
    for (bool is_last = false; !is_last;) {
      if (!call->CanSend()) {
        call->Pause(PauseKind::kForRoom, shared_from_this());
        return absl::OkStatus();
      }
      std::string framed = next_(&is_last);
      if (!call->Send(std::move(framed), is_last)) return ClientGone();
    }
    return absl::OkStatus();
  }
  absl::Status Resume(Call* call) override { return Run(call); }

 private:
  const NextMessage next_;
};

}  // namespace stele::server
