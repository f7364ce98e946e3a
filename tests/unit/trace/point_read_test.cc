// Tests the encoding of point reads: the same bytes as those of a TraceRecord with these members.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "trace/trace_encoding.h"
#include "trace/trace_record.h"

namespace stele::internal {
namespace {

TraceRecord RecordOf(const PointReadRecord& point) {
  TraceRecord record;
  record.micros = point.micros;
  record.op = TraceOp::kGet;
  record.table = point.table;
  record.row = point.row;
  record.filter = point.filter;
  if (point.family.has_value()) record.families = {std::string(*point.family)};
  if (point.returned.has_value()) {
    record.rows_returned = point.returned->rows;
    record.cells_returned = point.returned->cells;
    record.bytes = point.returned->bytes;
  }
  record.latency_micros = point.latency_micros;
  record.status = point.status;
  record.tag = point.tag;
  return record;
}

void ExpectSameBytes(const PointReadRecord& point) {
  std::string expected;
  AppendTraceRecord(RecordOf(point), &expected);
  std::string bytes(PointReadBytesMax(point), '\0');
  const char* const end = StorePointRead(point, bytes.data());
  ASSERT_LE(end, bytes.data() + bytes.size());
  bytes.resize(static_cast<size_t>(end - bytes.data()));
  EXPECT_EQ(bytes, expected);
}

// All combinations of the members that may be absent.
TEST(PointRead, HasTheBytesOfARecord) {
  for (unsigned members = 0; members < 64; ++members) {
    SCOPED_TRACE(members);
    PointReadRecord point{.micros = 1'700'000'000'000'000, .table = "table", .latency_micros = 130};
    if ((members & 1) != 0) point.row = "row";
    if ((members & 2) != 0) point.filter = "latest(1)";
    if ((members & 4) != 0) point.family = "";
    if ((members & 8) != 0)
      point.returned = ReturnedCounts{.rows = 1, .cells = 200, .bytes = 70'000};
    if ((members & 16) != 0) point.status = "NOT_FOUND";
    if ((members & 32) != 0) point.tag = "tag";
    ExpectSameBytes(point);
  }
}

TEST(PointRead, HasRoomForTheLargestNumbers) {
  PointReadRecord point{.micros = INT64_MAX, .latency_micros = UINT64_MAX};
  point.family = "f";
  point.returned = ReturnedCounts{.rows = UINT64_MAX, .cells = UINT64_MAX, .bytes = UINT64_MAX};
  ExpectSameBytes(point);
  const std::string text(300, 't');
  point.table = text;
  point.row = text;
  point.filter = text;
  point.family = text;
  point.status = text;
  point.tag = text;
  ExpectSameBytes(point);
}

}  // namespace
}  // namespace stele::internal
