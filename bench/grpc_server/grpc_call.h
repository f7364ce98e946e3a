// bench/grpc_server/grpc_call.h: a call of gRPC's library, as a Call of steled's methods.
//
// It has one operation of gRPC at a time: waiting for a client, writing a message, or finishing.
// The method runs between two operations, on the thread that got the event of the first one. A
// message of a stream is written while the method is paused. The last message is written together
// with the status, by one operation.
//
// Limits:    a pause that waits for anything but room ends the call with UNIMPLEMENTED: a Watch of
//            the health and a WaitOperation. There is no limit for memory, and stop() is never
//            stopped. So a call does less here than in steled.
// Threads:   confined to the thread that got its event.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpc_service.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

class GrpcCall final : public Call {
 public:
  // Makes the next call of method number `index`. Its last event deletes it. Both arguments must
  // outlive it.
  static void Expect(GrpcService* service, size_t index, grpc::ServerCompletionQueue* queue);

  // Handles the event of the operation that has ended. Its tag is this call. May delete the call.
  void OnEvent(bool is_ok);

  const std::string& path() const override { return service_.methods()[index_].path; }
  std::string_view metadata(std::string_view name) const override;
  std::optional<std::chrono::steady_clock::time_point> deadline() const override;
  std::stop_token stop() const override { return {}; }
  bool Reserve(size_t /*bytes*/) override { return true; }
  bool ReserveAnswer(size_t /*bytes*/) override { return true; }
  void ReleaseAnswer(size_t /*bytes*/) override {}
  void SetRefused(RefusalCause /*cause*/) override {}
  bool Receive(std::string* message) override;
  // A method sends one message between two pauses.
  bool Send(std::string framed, bool is_last) override;
  bool CanSend() const override { return is_gone_ || !message_.has_value(); }
  bool CanReceive() const override { return true; }
  void Pause(PauseKind kind, std::shared_ptr<PausedCall> continuation) override;
  std::function<void()> Waker() override {
    return [] {};
  }

 private:
  enum class Operation : uint8_t { kExpect, kWrite, kFinish };

  GrpcCall(GrpcService* service, size_t index, grpc::ServerCompletionQueue* queue)
      : service_(*service), index_(index), queue_(queue) {
    service_.AddCall();
  }
  ~GrpcCall() override { service_.RemoveCall(); }

  absl::Status ResumeRest();
  // Starts the next operation. The method has returned `status`. Each of these is the last use of
  // the call on this thread, since another one may get the event.
  void Continue(absl::Status status);
  void Write();
  void Finish();

  GrpcService& service_;
  const size_t index_;
  grpc::ServerCompletionQueue* const queue_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_{&context_};
  Operation operation_ = Operation::kExpect;
  bool is_received_ = false;            // the request was given to the method
  bool is_gone_ = false;                // the client
  std::optional<std::string> message_;  // sent by the method, not yet given to gRPC; with a prefix
  std::shared_ptr<PausedCall> continuation_;  // of a paused method
  absl::Status status_;                       // of a method that has ended
  bool is_unsupported_ = false;               // the method paused for something else than room
};

}  // namespace stele::server
