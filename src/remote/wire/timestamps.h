// remote/wire/timestamps.h: converts timestamps of cells, which are checked with Bigtable's
// messages, and points in time.
//
// Units:     microseconds.
// Errors:    InvalidArgument.
// Threads:   pure functions.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/data.pb.h"
#include "remote/wire/field_errors.h"
#include "stele/schema.h"
#include "stele/timestamp.h"

namespace stele::internal {

inline absl::Status CheckGranularity(int64_t micros, TimestampGranularity granularity) {
  if (granularity == TimestampGranularity::kMicros || micros % 1000 == 0) return absl::OkStatus();
  return InvalidArgument(
      "Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond granularity), but "
      "got {}",
      micros);
}

// An end of 0 means no end.
inline absl::StatusOr<TimestampRange> ToTimestampRange(
    const google::bigtable::v2::TimestampRange& range, TimestampGranularity granularity) {
  STELE_RETURN_IF_ERROR(CheckGranularity(range.start_timestamp_micros(), granularity));
  STELE_RETURN_IF_ERROR(CheckGranularity(range.end_timestamp_micros(), granularity));
  TimestampRange result{.start = Timestamp::FromMicros(range.start_timestamp_micros())};
  if (range.end_timestamp_micros() != 0)
    result.end = Timestamp::FromMicros(range.end_timestamp_micros());
  return result;
}

// ---- points in time ----

inline google::protobuf::Timestamp ToWireTime(int64_t micros) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::microseconds(micros));
  google::protobuf::Timestamp point;
  point.set_seconds(seconds.count());
  point.set_nanos(static_cast<int32_t>((micros - seconds.count() * 1'000'000) * 1'000));
  return point;
}

inline google::protobuf::Timestamp WireNow() {
  return ToWireTime(Timestamp::From(std::chrono::system_clock::now()).micros());
}

// The years 1 to 9999, which protobuf allows, always fit.
inline int64_t MicrosOf(const google::protobuf::Timestamp& point) {
  return point.seconds() * 1'000'000 + point.nanos() / 1'000;
}

}  // namespace stele::internal
