#include "steled/transport/http2/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "steled/base/errors.h"
#include "steled/transport/calls/overload.h"

namespace stele::server {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // the largest window, with gzip's header
constexpr size_t kFirstPartBytes = size_t{16} << 10;
constexpr size_t kPartBytesMax = size_t{1} << 20;

absl::Status NoGzip() { return Internal("A compressed message is no gzip"); }

}  // namespace

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
