// transport/http2_stream.h: the state of one call's stream. The lock of its connection guards all of it but what is said to be constant.
//
// Threads:   see above; the method's thread and those that serve the connection share it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "transport/call.h"
#include "transport/grpc_protocol.h"

namespace stele::server {

// A call that has more unsent waits before it sends the next message.
inline constexpr size_t kUnsentBytesMax = size_t{256} << 10;

struct Http2Stream {
  Http2Stream(int32_t stream_id, size_t message_bytes_max) : id(stream_id), request(message_bytes_max) {}

  const int32_t id;
  // Of the request's headers; constant once the call has begun.
  std::string path;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::vector<std::pair<std::string, std::string>> metadata;  // of the headers, what methods ask for
  const Method* method = nullptr;
  size_t header_bytes = 0;  // of all headers, also those that are not kept
  std::chrono::steady_clock::time_point begun_at = std::chrono::steady_clock::now();
  bool is_post = false;
  bool is_grpc = false;
  bool has_bad_timeout = false;
  bool has_unknown_encoding = false;

  MessageSplitter request;
  size_t request_bytes = 0;                           // reserved of the memory for requests
  size_t paced_bytes = 0;                             // that came since waits_since
  std::chrono::steady_clock::time_point waits_since;  // for kPaceBytes, while no message is whole
  bool request_ended = false;
  bool has_begun = false;  // its method was given to a thread

  bool is_paused = false;  // its method waits for room without a thread

  bool response_begun = false;     // its headers were submitted
  std::deque<std::string> unsent;  // framed, the first goes first
  size_t unsent_offset = 0;        // of the first, how much has gone
  size_t unsent_bytes = 0;         // of all, what has not gone
  size_t unsent_charge = 0;        // reserved of the memory for requests, for what is unsent
  size_t unsent_at_mark = 0;       // when the client was last seen to read
  std::chrono::steady_clock::time_point unsent_mark;
  bool is_given_up = false;            // it is to be reset, for nobody reads it
  std::optional<absl::Status> status;  // what the method returned, or why there is none
  bool has_lost_message = false;       // one that the method sent
  bool is_beyond_memory = false;       // why it was lost
  absl::Status request_error;          // why a message could not be given to the method
  bool is_done = false;                // the method is
  bool is_closed = false;              // nobody listens any more
  bool is_ending = false;              // the server stops it, and its client is to hear that

  // Its method is to come to an end, whatever it does.
  bool IsStopped() const { return is_closed || is_ending; }
  // Send does not wait.
  bool CanSend() const { return IsStopped() || unsent_bytes <= kUnsentBytesMax; }

  std::condition_variable changed;  // messages came, bytes went, or it was closed
  std::stop_source stop;
};

}  // namespace stele::server
