#include "remote/client/read_stream.h"

#include "base/status.h"

namespace stele::internal {

ReadStream::ReadStream(const RemoteCall& call, const Request& request)
    : attempt_(call, "table_name=" + request.table_name(), std::nullopt),
      silence_max_(call.RepeatableAttempt(kReadSilence)) {
  reader_ = call.connection().data().AsyncReadRows(attempt_.context(), request, &queue_, this);
  has_begun_ = Await();
}

ReadStream::~ReadStream() {
  if (!is_finished_) {
    attempt_.context()->TryCancel();
    Finish();
  }
  queue_.Shutdown();
}

bool ReadStream::Await() {
  void* tag = nullptr;
  bool has_come = false;
  const auto until = std::chrono::system_clock::now() + silence_max_;
  if (queue_.AsyncNext(&tag, &has_come, until) == grpc::CompletionQueue::TIMEOUT) {
    is_silent_ = true;
    attempt_.context()->TryCancel();
    queue_.Next(&tag, &has_come);
  }
  return has_come;
}

bool ReadStream::Read(Response* message) {
  if (!has_begun_ || is_silent_) return false;
  reader_->Read(message, this);
  return Await();
}

grpc::Status ReadStream::Finish() {
  is_finished_ = true;
  grpc::Status status;
  reader_->Finish(&status, this);
  Await();
  if (!is_silent_ || status.ok()) return status;
  return {grpc::StatusCode::DEADLINE_EXCEEDED,
          fmt::format("the server sent nothing for {} seconds", silence_max_.count())};
}

}  // namespace stele::internal
