#include "grpc_transport.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "grpc_call.h"
#include "grpc_service.h"
#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr size_t kThreadsOfQueue = 2;
// Per method and queue. A call that is not expected takes a slower path in gRPC. stele_server_load
// has at most this many connections, with a call each.
constexpr size_t kExpectedDataCalls = 64;
constexpr size_t kExpectedOtherCalls = 1;

void ServeEvents(grpc::ServerCompletionQueue* queue) {
  void* tag = nullptr;
  bool is_ok = false;
  while (queue->Next(&tag, &is_ok)) static_cast<GrpcCall*>(tag)->OnEvent(is_ok);
}

class GrpcTransport final : public Transport {
 public:
  explicit GrpcTransport(const MethodTable& methods) : service_(methods) {}
  ~GrpcTransport() override { GrpcTransport::Stop({}); }

  absl::Status Listen(const TransportOptions& options) {
    if (!options.tls.certificate_chain.empty() || options.listen.starts_with("unix:"))
      return Unimplemented("{}: this server listens without TLS, and at a HOST:PORT",
                           options.listen);
    const size_t thread_count = std::max(1U, std::thread::hardware_concurrency());
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(options.listen, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes_max));
    for (size_t i = 0; i < thread_count; i += kThreadsOfQueue)
      queues_.push_back(builder.AddCompletionQueue());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return Unavailable("Cannot listen on {}", options.listen);
    address_ = fmt::format("{}:{}", options.listen.substr(0, options.listen.rfind(':')), port);
    ExpectCalls();
    for (size_t i = 0; i < thread_count; ++i)
      threads_.emplace_back(ServeEvents, queues_[i / kThreadsOfQueue].get());
    return absl::OkStatus();
  }

  const std::string& address() const override { return address_; }
  TransportFigures Figures() override { return {}; }
  absl::Status UseTls(const TlsFiles& /*tls*/) override {
    return Unimplemented("This server has no TLS");
  }
  void EndStalled() override {}

  void Stop(std::chrono::milliseconds grace) override {
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now() + grace);
      // A call expects the next one, which needs a queue that is not shut down.
      service_.AwaitNoCalls();
    }
    for (const auto& queue : queues_) queue->Shutdown();
    threads_.clear();
    server_.reset();
    queues_.clear();
  }

 private:
  void ExpectCalls() {
    for (size_t index = 0; index < service_.methods().size(); ++index) {
      const bool is_data = service_.methods()[index].method->kind == CallKind::kData;
      const size_t call_count = is_data ? kExpectedDataCalls : kExpectedOtherCalls;
      for (const auto& queue : queues_) {
        for (size_t i = 0; i < call_count; ++i) GrpcCall::Expect(&service_, index, queue.get());
      }
    }
  }

  GrpcService service_;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::vector<std::jthread> threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> StartGrpcTransport(const TransportOptions& options,
                                                              const MethodTable* methods,
                                                              CallObserver* /*observer*/) {
  auto transport = std::make_unique<GrpcTransport>(*methods);
  STELED_RETURN_IF_ERROR(transport->Listen(options));
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace stele::server
