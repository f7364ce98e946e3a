#include "message.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include "base/status.h"

namespace stele_load {
namespace {

constexpr size_t kPrefixBytes = 5;

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

}  // namespace

std::string Serialised(const google::protobuf::MessageLite& message) {
  const size_t message_bytes = message.ByteSizeLong();
  std::string bytes = {'\0', static_cast<char>(message_bytes >> 24),
                       static_cast<char>(message_bytes >> 16),
                       static_cast<char>(message_bytes >> 8), static_cast<char>(message_bytes)};
  message.AppendToString(&bytes);
  return bytes;
}

std::optional<std::vector<std::string_view>> MessagesOf(std::string_view bytes) {
  std::vector<std::string_view> messages;
  while (!bytes.empty()) {
    if (bytes.size() < kPrefixBytes || bytes[0] != '\0') return std::nullopt;
    size_t message_bytes = 0;
    for (size_t i = 1; i < kPrefixBytes; ++i)
      message_bytes = message_bytes << 8 | static_cast<uint8_t>(bytes[i]);
    bytes.remove_prefix(kPrefixBytes);
    if (bytes.size() < message_bytes) return std::nullopt;
    messages.push_back(bytes.substr(0, message_bytes));
    bytes.remove_prefix(message_bytes);
  }
  return messages;
}

bool Parse(std::string_view bytes, google::protobuf::MessageLite* message) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return false;
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

absl::Status GrpcStatus(std::string_view code, std::string_view percent_encoded_message) {
  int number = 0;
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), number);
  const bool is_known = error == std::errc() && end == code.data() + code.size();
  return stele::internal::MakeStatus(
      is_known ? static_cast<absl::StatusCode>(number) : absl::StatusCode::kUnknown,
      PercentDecoded(percent_encoded_message));
}

}  // namespace stele_load
