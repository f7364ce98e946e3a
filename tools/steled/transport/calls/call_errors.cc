#include "steled/transport/calls/call_errors.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr char kRetryInfo[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr uint64_t kNanosPerMilli = 1'000'000;
// The numbers of fields in protobuf's encoding.
constexpr uint64_t kFirst = 1;
constexpr uint64_t kSecond = 2;
constexpr uint64_t kThird = 3;

void AddVarint(uint64_t number, std::string* out) {
  for (; number >= 0x80; number >>= 7) out->push_back(static_cast<char>((number & 0x7f) | 0x80));
  out->push_back(static_cast<char>(number));
}

void AddNumber(uint64_t field, uint64_t number, std::string* out) {
  AddVarint(field << 3, out);
  AddVarint(number, out);
}

void AddBytes(uint64_t field, std::string_view bytes, std::string* out) {
  AddVarint(field << 3 | 2, out);
  AddVarint(bytes.size(), out);
  out->append(bytes);
}

// A google.rpc.RetryInfo.
std::string NewRetryInfo() {
  // Steps by a prime number, so that consecutive delays are far from each other.
  static std::atomic<uint64_t> count = 0;
  constexpr uint64_t kStep = 83;
  constexpr uint64_t kRange = kRetryMillisMax - kRetryMillisMin + 1;
  const uint64_t millis = kRetryMillisMin + count.fetch_add(1) * kStep % kRange;
  std::string duration;
  AddNumber(kSecond, millis * kNanosPerMilli, &duration);
  std::string info;
  AddBytes(kFirst, duration, &info);
  return info;
}

absl::Status TranslateException() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    return NoMemory();
  } catch (const std::length_error&) {
    return NoMemory();
  } catch (const std::exception& error) {
    return MakeStatus(absl::StatusCode::kInternal, error.what());
  } catch (...) {
    return Internal("unknown exception");
  }
}

}  // namespace

absl::Status Overloaded(std::string_view text, absl::StatusCode code) {
  absl::Status status = MakeStatus(code, text);
  status.SetPayload(kRetryInfo, absl::Cord(NewRetryInfo()));
  return status;
}

absl::Status WithText(const absl::Status& status, std::string_view text) {
  absl::Status changed = MakeStatus(status.code(), text);
  status.ForEachPayload([&changed](absl::string_view type, const absl::Cord& payload) {
    changed.SetPayload(type, payload);
  });
  return changed;
}

std::string StatusDetails(const absl::Status& status) {
  std::string details;
  status.ForEachPayload([&details](absl::string_view type, const absl::Cord& payload) {
    std::string any;
    AddBytes(kFirst, std::string_view(type.data(), type.size()), &any);
    AddBytes(kSecond, std::string(payload), &any);
    AddBytes(kThird, any, &details);
  });
  if (details.empty()) return {};
  std::string message;
  AddNumber(kFirst, static_cast<uint64_t>(status.raw_code()), &message);
  AddBytes(kSecond, TextOf(status), &message);
  message += details;
  // gRPC leaves out the padding.
  std::string encoded = absl::Base64Escape(message);
  while (encoded.ends_with('=')) encoded.pop_back();
  return encoded;
}

absl::Status NoMemory() {
  return ResourceExhausted(
      "The server has no memory for this; send less at once, try again later, or "
      "give the server more memory");
}

absl::Status StatusOfException() noexcept {
  try {
    return TranslateException();
  } catch (...) {
    return absl::Status(absl::StatusCode::kResourceExhausted, "");
  }
}

}  // namespace stele::server
