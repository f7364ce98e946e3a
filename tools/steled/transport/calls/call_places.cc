#include "steled/transport/calls/call_places.h"

#include <algorithm>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {

absl::Status CallPlaces::Take(CallKind kind, Taken* of_connection, RefusalCause* cause) {
  if (kind == CallKind::kHealth) return absl::OkStatus();
  const auto index = static_cast<size_t>(kind);
  const int most = most_[index];
  if (taken_[index] >= most) {
    *cause = kind == CallKind::kData ? RefusalCause::kCallLimit : RefusalCause::kOtherCallLimit;
    return Overloaded(fmt::format("{} calls run already; try again later", most));
  }
  const bool are_few_free = most - taken_[index] <= most / 4;
  const int own = (*of_connection)[index];
  if (are_few_free && own >= std::max(1, most / 8)) {
    *cause = RefusalCause::kConnectionCallLimit;
    return Overloaded(
        fmt::format("{} of {} calls run already, {} of this connection; try again later",
                    taken_[index], most, own));
  }
  TakeAgain(kind, of_connection);
  return absl::OkStatus();
}

void CallPlaces::Add(CallKind kind, Taken* of_connection, int count) {
  if (kind == CallKind::kHealth) return;
  const auto index = static_cast<size_t>(kind);
  taken_[index] += count;
  (*of_connection)[index] += count;
}

}  // namespace stele::server
