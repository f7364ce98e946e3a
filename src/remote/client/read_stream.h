// remote/client/read_stream.h: one attempt at a ReadRows. It fails if the server stays silent for
// too long.
//
// A read has no deadline, since it lasts as long as it returns rows. Instead each message has a
// time limit, so that a silent server does not block the reader forever. The reader's time between
// messages does not count.
//
// Errors:    DeadlineExceeded for a silent server; otherwise those of gRPC.
// Threads:   confined to the thread that reads.
#pragma once

#include <grpcpp/completion_queue.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "remote/client/connection.h"
#include "remote/wire/bigtable.grpc.pb.h"

namespace stele::internal {

// How long a server may be silent. A server that finds no matching row reports its progress: steled
// every 50 ms, except inside one row.
inline constexpr std::chrono::seconds kReadSilence{60};

class ReadStream {
 public:
  using Request = google::bigtable::v2::ReadRowsRequest;
  using Response = google::bigtable::v2::ReadRowsResponse;

  ReadStream(const RemoteCall& call, const Request& request);
  // Cancels the call unless it was finished.
  ~ReadStream();
  ReadStream(const ReadStream&) = delete;
  ReadStream& operator=(const ReadStream&) = delete;

  // Reads the next message. Returns false if there is none; Finish() returns the reason.
  bool Read(Response* message);
  // Call once, after the last message.
  grpc::Status Finish();

 private:
  // Waits for the started operation. Returns false if it failed.
  bool Await();

  Attempt attempt_;
  const std::chrono::seconds silence_max_;
  grpc::CompletionQueue queue_;  // one operation at a time
  std::unique_ptr<grpc::ClientAsyncReaderInterface<Response>> reader_;
  bool has_begun_ = false;
  bool is_silent_ = false;
  bool is_finished_ = false;
};

}  // namespace stele::internal
