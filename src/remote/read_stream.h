// remote/read_stream.h: one attempt at a ReadRows, which ends when its server falls silent.
//
// A read has no deadline of its own, for it takes as long as it gives rows. So a server that stops answering, though its connection stands,
// would be waited for without end; here it is each message that is waited for so long and no longer. The time that a reader takes between
// messages does not count.
//
// Errors:    DeadlineExceeded for a silent server, those of gRPC for the rest.
// Threads:   confined to the thread that reads.
#pragma once

#include <grpcpp/completion_queue.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "remote/connection.h"
#include "wire/bigtable.grpc.pb.h"

namespace stele::internal {

// How long a server may say nothing. One that finds no row says how far it came: steled every 50 ms, unless it is inside of one row.
inline constexpr std::chrono::seconds kReadSilence{60};

class ReadStream {
 public:
  using Request = google::bigtable::v2::ReadRowsRequest;
  using Response = google::bigtable::v2::ReadRowsResponse;

  ReadStream(const RemoteCall& call, const Request& request);
  // Gives it up, unless it was finished.
  ~ReadStream();
  ReadStream(const ReadStream&) = delete;
  ReadStream& operator=(const ReadStream&) = delete;

  // False: there is none any more; Finish() says why.
  bool Read(Response* message);
  // Once, after the last message.
  grpc::Status Finish();

 private:
  // The operation that was begun; false: it came to nothing.
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
