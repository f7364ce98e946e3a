// transport/grpc_protocol.h: what gRPC says over HTTP/2: headers, and the frames of messages.
//
// Errors:    as absl::Status, with the code that the client is told.
// Threads:   pure functions; a MessageSplitter is confined.
// Source:    gRPC over HTTP/2.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "transport/call.h"

namespace stele::server {

// "10S", "250m": at most eight digits and a unit. None: not such a text.
std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text);

// "application/grpc", also with "+proto" or parameters.
bool IsGrpcContentType(std::string_view text);

// A status text as a header may bear it, at most kStatusTextBytes of it.
inline constexpr size_t kStatusTextBytes = 2048;
std::string PercentEncoded(std::string_view text);

// Fills in the first kPrefixBytes of `framed`.
void WritePrefix(std::string* framed);

// Messages out of the bytes of DATA frames, however these are cut.
class MessageSplitter {
 public:
  explicit MessageSplitter(size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  // Takes more bytes. ResourceExhausted: a message is too long. Internal: the framing is invalid,
  // or a message is compressed although AllowCompressed was not called.
  absl::Status Add(std::string_view bytes);
  // From now on messages may be compressed.
  void AllowCompressed() { allows_compressed_ = true; }
  // The next whole message, moved out, as it came. False: there is none yet.
  bool Take(std::string* message, bool* is_compressed);
  // Forgets what came.
  void Drop();
  size_t whole_count() const { return whole_.size(); }
  // Bytes of a message that is not whole have come.
  bool IsInside() const { return !prefix_.empty(); }

 private:
  absl::Status ReadPrefix();

  const size_t message_bytes_max_;
  std::string prefix_;   // of the message in progress, as far as it came
  size_t length_ = 0;    // of the message in progress, once its prefix is whole
  std::string message_;  // likewise, as far as it came
  bool allows_compressed_ = false;
  struct Whole {
    std::string message;
    bool is_compressed;
  };
  std::vector<Whole> whole_;  // the first comes first
};

}  // namespace stele::server
