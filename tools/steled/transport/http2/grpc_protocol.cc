#include "steled/transport/http2/grpc_protocol.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

// The limit for memory that is allocated before a message's bytes arrive: a client may announce
// bytes that it never sends.
constexpr size_t kReserveBytesMax = size_t{1} << 20;
// Once this many bytes have arrived, the whole message gets memory, because a growing string exists
// twice while it is copied.
constexpr size_t kReserveAllBytes = kReserveBytesMax / 2;
constexpr int kGzipWindowBits = 15 + 16;  // the largest window, with gzip's header
constexpr size_t kFirstPartBytes = size_t{16} << 10;
constexpr size_t kPartBytesMax = size_t{1} << 20;

absl::Status NoGzip() { return Internal("A compressed message is no gzip"); }

}  // namespace

std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text) {
  using Nanos = std::chrono::nanoseconds;
  constexpr size_t kDigitsMax = 8;
  if (text.size() < 2 || text.size() > kDigitsMax + 1) return std::nullopt;
  uint32_t count = 0;  // has no sign
  const char* const end = text.data() + text.size() - 1;
  if (const auto [stopped, error] = std::from_chars(text.data(), end, count);
      error != std::errc() || stopped != end) {
    return std::nullopt;
  }
  // A longer timeout could overflow.
  constexpr Nanos kMost = std::chrono::hours(24 * 365);
  constexpr std::array<std::pair<char, Nanos>, 6> kUnits = {{{'H', std::chrono::hours(1)},
                                                             {'M', std::chrono::minutes(1)},
                                                             {'S', std::chrono::seconds(1)},
                                                             {'m', std::chrono::milliseconds(1)},
                                                             {'u', std::chrono::microseconds(1)},
                                                             {'n', Nanos(1)}}};
  for (const auto& [unit, length] : kUnits) {
    if (unit == text.back()) return length * std::min<int64_t>(count, kMost / length);
  }
  return std::nullopt;
}

bool IsGrpcContentType(std::string_view text) {
  constexpr std::string_view kType = "application/grpc";
  if (!text.starts_with(kType)) return false;
  return text.size() == kType.size() || text[kType.size()] == '+' || text[kType.size()] == ';';
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text.substr(0, kStatusTextBytes)) {
    if (c >= ' ' && c <= '~' && c != '%') {
      encoded.push_back(c);
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

void WritePrefix(std::string* framed) {
  const auto length = static_cast<uint32_t>(framed->size() - kPrefixBytes);
  (*framed)[0] = 0;  // not compressed
  for (size_t i = 1; i < kPrefixBytes; ++i)
    (*framed)[i] = static_cast<char>(length >> (8 * (kPrefixBytes - 1 - i)));
}

absl::Status MessageSplitter::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (prefix_.size() < kPrefixBytes) {
      const size_t taken = std::min(bytes.size(), kPrefixBytes - prefix_.size());
      prefix_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (prefix_.size() < kPrefixBytes) return absl::OkStatus();
      STELED_RETURN_IF_ERROR(ReadPrefix());
    }
    const size_t taken = std::min(bytes.size(), length_ - message_.size());
    if (message_.size() >= kReserveAllBytes) message_.reserve(length_);
    message_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (message_.size() < length_) return absl::OkStatus();
    whole_.push_back({std::exchange(message_, {}), prefix_[0] == 1});
    prefix_.clear();
  }
  return absl::OkStatus();
}

absl::Status MessageSplitter::ReadPrefix() {
  if (prefix_[0] == 1 && !allows_compressed_) {
    return Internal("A message is compressed, and grpc-encoding does not say how");
  }
  if (prefix_[0] != 0 && prefix_[0] != 1)
    return Internal("A message begins with a byte that is not gRPC's");
  length_ = 0;
  for (size_t i = 1; i < kPrefixBytes; ++i)
    length_ = length_ << 8 | static_cast<unsigned char>(prefix_[i]);
  if (length_ > message_bytes_max_) {
    return ResourceExhausted("A message of {} bytes; at most {} are allowed", length_,
                             message_bytes_max_);
  }
  message_.reserve(std::min(length_, kReserveBytesMax));
  return absl::OkStatus();
}

bool MessageSplitter::Take(std::string* message, bool* is_compressed) {
  if (whole_.empty()) return false;
  *message = std::move(whole_.front().message);
  *is_compressed = whole_.front().is_compressed;
  whole_.erase(whole_.begin());
  return true;
}

size_t MessageSplitter::held_bytes() const {
  size_t bytes = prefix_.size() + message_.size();
  for (const Whole& whole : whole_) bytes += kPrefixBytes + whole.message.size();
  return bytes;
}

absl::Status Unzip(std::string_view compressed, size_t bytes_max,
                   const std::function<bool(size_t bytes)>& reserve, std::string* message) {
  message->clear();
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) {
    return Overloaded("No memory to decompress a message; try again later");
  }
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ended(&stream, &inflateEnd);
  // Zlib does not change it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  for (int outcome = Z_OK; outcome != Z_STREAM_END;) {
    const size_t done = message->size();
    // One byte more than allowed detects a message that is too large.
    const size_t part =
        std::min(std::clamp(done, kFirstPartBytes, kPartBytesMax), bytes_max + 1 - done);
    if (!reserve(part)) return Overloaded("Too many bytes of requests at once; try again later");
    message->resize(done + part);
    stream.next_out = reinterpret_cast<Bytef*>(message->data() + done);
    stream.avail_out = static_cast<uInt>(part);
    outcome = inflate(&stream, Z_NO_FLUSH);
    message->resize(done + part - stream.avail_out);
    if (message->size() > bytes_max) {
      return ResourceExhausted(
          "A message of more than {} bytes, decompressed; at most these are allowed", bytes_max);
    }
    const bool has_stopped = stream.avail_out > 0 && outcome != Z_STREAM_END;
    if ((outcome != Z_OK && outcome != Z_STREAM_END) || has_stopped) return NoGzip();
  }
  return stream.avail_in == 0 ? absl::OkStatus() : NoGzip();
}

}  // namespace stele::server
