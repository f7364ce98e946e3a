#include "steled/rpc/status.h"

#include <string>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {

std::string ReadableText(const absl::Status& status) {
  // Clients accept 8 KiB of headers, in which a character may take three bytes.
  constexpr size_t kTextBytesMax = 2048;
  const std::string text = TextOf(status);
  std::string readable;
  for (size_t i = 0; i < text.size() && readable.size() + 4 <= kTextBytesMax; ++i) {
    if (text[i] >= ' ' && text[i] <= '~') {
      readable.push_back(text[i]);
    } else {
      readable += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    }
  }
  return readable;
}

absl::Status Readable(const absl::Status& status) {
  return status.ok() ? status : WithText(status, ReadableText(status));
}

}  // namespace stele::server
