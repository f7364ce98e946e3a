#include "steled/transport/calls/call_places.h"

#include <algorithm>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {

absl::Status CallPlaces::Take(std::string_view path, Taken* of_connection, RefusalCause* cause) {
  if (!NeedsPlace(path)) return absl::OkStatus();
  const size_t kind = KindOf(path);
  const int most = kind == kData ? options_.data_max : options_.other_max;
  if (taken_[kind] >= most) {
    *cause = kind == kData ? RefusalCause::kCallLimit : RefusalCause::kOtherCallLimit;
    return Overloaded(fmt::format("{} calls run already; try again later", most));
  }
  const bool are_few_free = most - taken_[kind] <= most / 4;
  const int own = (*of_connection)[kind];
  if (are_few_free && own >= std::max(1, most / 8)) {
    *cause = RefusalCause::kConnectionCallLimit;
    return Overloaded(
        fmt::format("{} of {} calls run already, {} of this connection; try again later",
                    taken_[kind], most, own));
  }
  TakeAgain(path, of_connection);
  return absl::OkStatus();
}

void CallPlaces::Add(std::string_view path, Taken* of_connection, int count) {
  if (!NeedsPlace(path)) return;
  const size_t kind = KindOf(path);
  taken_[kind] += count;
  (*of_connection)[kind] += count;
}

}  // namespace stele::server
