#include "grpc_call.h"

#include <utility>
#include <vector>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

// A larger message is passed to gRPC without a copy. For a smaller one, the copy is cheaper than
// the two allocations of that.
constexpr size_t kCopiedBytesMax = 1024;

// Returns the message without its prefix, which gRPC writes itself.
grpc::ByteBuffer PayloadOf(std::string framed) {
  const size_t byte_count = framed.size() - kPrefixBytes;
  if (byte_count <= kCopiedBytesMax) {
    const grpc::Slice copied(framed.data() + kPrefixBytes, byte_count);
    return {&copied, 1};
  }
  auto* const owned = new std::string(std::move(framed));
  const grpc::Slice slice(
      owned->data() + kPrefixBytes, byte_count,
      [](void* text) { delete static_cast<std::string*>(text); }, owned);
  return {&slice, 1};
}

void Append(const grpc::Slice& slice, std::string* message) {
  message->append(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return {};
  return {static_cast<grpc::StatusCode>(status.code()), TextOf(status)};
}

}  // namespace

void GrpcCall::Expect(GrpcService* service, size_t index, grpc::ServerCompletionQueue* queue) {
  auto* const call = new GrpcCall(service, index, queue);
  service->Expect(index, &call->context_, &call->request_, &call->writer_, queue, call);
}

void GrpcCall::OnEvent(bool is_ok) {
  switch (operation_) {
    case Operation::kExpect:
      if (!is_ok) break;
      Expect(&service_, index_, queue_);
      return Continue(service_.methods()[index_].method->run(this));
    case Operation::kWrite:
      is_gone_ = !is_ok;
      return continuation_ == nullptr ? Finish() : Continue(ResumeRest());
    case Operation::kFinish:
      break;
  }
  delete this;
}

std::string_view GrpcCall::metadata(std::string_view name) const {
  const auto& all = context_.client_metadata();
  const auto found = all.find(grpc::string_ref(name.data(), name.size()));
  if (found == all.end()) return {};
  return {found->second.data(), found->second.size()};
}

std::optional<std::chrono::steady_clock::time_point> GrpcCall::deadline() const {
  const gpr_timespec raw = context_.raw_deadline();
  if (gpr_time_cmp(raw, gpr_inf_future(raw.clock_type)) == 0) return std::nullopt;
  return std::chrono::steady_clock::now() +
         (context_.deadline() - std::chrono::system_clock::now());
}

bool GrpcCall::Receive(std::string* message) {
  if (std::exchange(is_received_, true)) return false;
  message->clear();
  if (grpc::Slice slice; request_.TrySingleSlice(&slice).ok()) {
    Append(slice, message);
  } else {
    std::vector<grpc::Slice> slices;
    if (!request_.Dump(&slices).ok()) return false;
    message->reserve(request_.Length());
    for (const grpc::Slice& part : slices) Append(part, message);
  }
  request_.Clear();
  return true;
}

bool GrpcCall::Send(std::string framed, bool /*is_last*/) {
  if (is_gone_ || message_.has_value()) return false;
  message_ = std::move(framed);
  return true;
}

void GrpcCall::Pause(PauseKind kind, std::shared_ptr<PausedCall> continuation) {
  if (kind == PauseKind::kForRoom && message_.has_value()) {
    continuation_ = std::move(continuation);
  } else {
    is_unsupported_ = true;
  }
}

// Frees the continuation before the next operation, whose event may delete the call that it uses.
absl::Status GrpcCall::ResumeRest() {
  const std::shared_ptr<PausedCall> continuation = std::exchange(continuation_, nullptr);
  return continuation->Resume(this);
}

void GrpcCall::Continue(absl::Status status) {
  status_ = is_unsupported_ ? Unimplemented("This server serves no call that waits for an event")
                            : std::move(status);
  // gRPC writes a message together with the status only if that is OK.
  if (message_.has_value() && (continuation_ != nullptr || !status_.ok())) return Write();
  Finish();
}

void GrpcCall::Write() {
  operation_ = Operation::kWrite;
  const grpc::ByteBuffer payload = PayloadOf(*std::exchange(message_, std::nullopt));
  writer_.Write(payload, this);
}

void GrpcCall::Finish() {
  operation_ = Operation::kFinish;
  if (!message_.has_value()) return writer_.Finish(ToGrpcStatus(status_), this);
  const grpc::ByteBuffer payload = PayloadOf(*std::exchange(message_, std::nullopt));
  writer_.WriteAndFinish(payload, grpc::WriteOptions(), grpc::Status(), this);
}

}  // namespace stele::server
