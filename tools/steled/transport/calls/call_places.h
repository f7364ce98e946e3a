// steled/transport/calls/call_places.h: limits the calls that run at once.
//
// Data calls and other calls have separate places, so neither can use up those of the others. A
// connection can take any place while a quarter of them is free. Then it can take no more than an
// eighth. So clients with few calls get places even while others have many.
//
// Health checks need no place: a probe that fails restarts the server.
//
// Threads:   confined, or guarded by a lock of the caller.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "steled/transport/calls/call_observer.h"

namespace stele::server {

class CallPlaces {
 public:
  // The places that the calls of one connection take: data calls, others.
  using Taken = std::array<int, 2>;

  struct Options {
    std::string data_prefix;    // of the paths of data calls
    std::string health_prefix;  // of the paths that need no place
    int data_max = 0;
    int other_max = 0;
  };
  explicit CallPlaces(Options options) : options_(std::move(options)) {}

  // Takes a place for a call of this path. Returns Unavailable and sets `cause` if there is none.
  absl::Status Take(std::string_view path, Taken* of_connection, RefusalCause* cause);
  // Takes a place for a call that had one before, even if none is free.
  void TakeAgain(std::string_view path, Taken* of_connection) { Add(path, of_connection, 1); }
  void Leave(std::string_view path, Taken* of_connection) { Add(path, of_connection, -1); }

 private:
  static constexpr size_t kData = 0;
  static constexpr size_t kOther = 1;

  bool NeedsPlace(std::string_view path) const { return !path.starts_with(options_.health_prefix); }
  size_t KindOf(std::string_view path) const {
    return path.starts_with(options_.data_prefix) ? kData : kOther;
  }
  void Add(std::string_view path, Taken* of_connection, int count);

  const Options options_;
  Taken taken_ = {};  // of all connections
};

}  // namespace stele::server
