#include "steled/transport/calls/exceptions.h"

#include <exception>
#include <new>
#include <stdexcept>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

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
