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

#include "absl/status/status.h"
#include "steled/transport/calls/call_observer.h"
#include "steled/transport/calls/method.h"

namespace stele::server {

class CallPlaces {
 public:
  // The places that the calls of one connection take, by their kind.
  using Taken = std::array<int, 2>;

  CallPlaces(int data_max, int other_max) : most_{data_max, other_max} {}

  // Takes a place for a call of this kind. Returns Unavailable and sets `cause` if there is none.
  absl::Status Take(CallKind kind, Taken* of_connection, RefusalCause* cause);
  // Takes a place for a call that had one before, even if none is free.
  void TakeAgain(CallKind kind, Taken* of_connection) { Add(kind, of_connection, 1); }
  void Leave(CallKind kind, Taken* of_connection) { Add(kind, of_connection, -1); }

 private:
  void Add(CallKind kind, Taken* of_connection, int count);

  const Taken most_;
  Taken taken_ = {};  // of all connections
};

}  // namespace stele::server
