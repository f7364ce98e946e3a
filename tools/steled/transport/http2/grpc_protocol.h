// steled/transport/http2/grpc_protocol.h: the encoding of gRPC over HTTP/2: headers, message frames
// and compressed messages.
//
// Errors:    as absl::Status, with the code that the client gets.
// Threads:   pure functions; a MessageSplitter is confined.
// Source:    gRPC over HTTP/2.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

// Parses "10S", "250m": at most eight digits and a unit. Returns nullopt for any other text.
std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text);

// Accepts "application/grpc", also with "+proto" or parameters.
bool IsGrpcContentType(std::string_view text);

// Encodes a status message for a header, at most kStatusTextBytes of it.
inline constexpr size_t kStatusTextBytes = 2048;
std::string PercentEncoded(std::string_view text);

// Fills in the first kPrefixBytes of `framed`.
void WritePrefix(std::string* framed);

// Assembles messages from the bytes of DATA frames, which may be cut anywhere.
class MessageSplitter {
 public:
  explicit MessageSplitter(size_t message_bytes_max = 0) : message_bytes_max_(message_bytes_max) {}

  // Adds bytes. Returns ResourceExhausted if a message is too long; Internal if the framing is
  // invalid, or if a message is compressed although AllowCompressed was not called.
  absl::Status Add(std::string_view bytes);
  // Call it before the first Add.
  void SetMessageBytesMax(size_t message_bytes_max) { message_bytes_max_ = message_bytes_max; }
  size_t message_bytes_max() const { return message_bytes_max_; }
  // From now on messages may be compressed.
  void AllowCompressed() { allows_compressed_ = true; }
  // Moves out the next complete message, as received. Returns false if there is none yet.
  bool Take(std::string* message, bool* is_compressed);
  size_t whole_count() const { return whole_.size(); }
  // The size of what has arrived and was not taken.
  size_t held_bytes() const;
  // True if a part of a message has arrived.
  bool IsInside() const { return !prefix_.empty(); }

 private:
  absl::Status ReadPrefix();

  size_t message_bytes_max_;
  std::string prefix_;   // the received part of the current message's prefix
  size_t length_ = 0;    // of the current message, once its prefix is complete
  std::string message_;  // the received part of the current message
  bool allows_compressed_ = false;
  struct Whole {
    std::string message;
    bool is_compressed;
  };
  std::vector<Whole> whole_;  // in order of arrival
};

// Decompresses `compressed`, which is gzip, into `message`. `reserve` is called before each part,
// with its size; if it returns false, there is no memory: Unavailable. Returns ResourceExhausted
// for a message above `bytes_max`, Internal for invalid gzip.
absl::Status Unzip(std::string_view compressed, size_t bytes_max,
                   const std::function<bool(size_t bytes)>& reserve, std::string* message);

}  // namespace stele::server
