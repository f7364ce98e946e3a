#include "trace/trace_encoding.h"

#include <optional>
#include <string_view>
#include <vector>

namespace stele::internal {
namespace {

// The bits at the start of a record. A set bit means that the record has the member.
enum Member : uint64_t {
  kRow = 1 << 0,
  kKeys = 1 << 1,
  kStart = 1 << 2,
  kEnd = 1 << 3,
  kLast = 1 << 4,
  kRanges = 1 << 5,
  kReverse = 1 << 6,  // without bytes
  kLimit = 1 << 7,
  kFilter = 1 << 8,
  kFamilies = 1 << 9,
  kRowsSeen = 1 << 10,
  kRowsReturned = 1 << 11,
  kCellsSeen = 1 << 12,
  kCellsReturned = 1 << 13,
  kBytes = 1 << 14,
  kBytesRead = 1 << 15,
  kLatency = 1 << 16,
  kCells = 1 << 17,
  kIncrements = 1 << 18,
  kColumns = 1 << 19,
  kBatch = 1 << 20,
  kCall = 1 << 21,
  kStatus = 1 << 22,
  kTag = 1 << 23,
  kMembersEnd = 1 << 24
};

constexpr uint8_t kOpsEnd = static_cast<uint8_t>(TraceOp::kDrop) + 1;

// For each type of a member there are three functions: IsSet, one that appends the member's bytes,
// and one that reads them.
bool IsSet(const std::string& text) { return !text.empty(); }
bool IsSet(const std::vector<std::string>& list) { return !list.empty(); }
template <typename T>
bool IsSet(const std::optional<T>& value) {
  return value.has_value();
}

void Append(const std::string& text, std::string* out) { AppendBytes(*out, text); }
void Append(uint64_t number, std::string* out) { AppendVarint(*out, number); }
void Append(const std::vector<std::string>& list, std::string* out) {
  AppendVarint(*out, list.size());
  for (const std::string& item : list) AppendBytes(*out, item);
}
template <typename T>
void Append(const std::optional<T>& value, std::string* out) {
  Append(*value, out);
}

bool Read(ByteReader* in, std::string* text) {
  std::string_view bytes;
  if (!in->ReadBytes(&bytes)) return false;
  text->assign(bytes);
  return true;
}
bool Read(ByteReader* in, uint64_t* number) { return in->ReadVarint(number); }
// Each item has at least one byte, so a list is never longer than the bytes.
bool Read(ByteReader* in, std::vector<std::string>* list) {
  uint64_t count;
  if (!in->ReadVarint(&count) || count > in->remaining()) return false;
  list->reserve(count);
  for (uint64_t i = 0; i < count; ++i)
    if (!Read(in, &list->emplace_back())) return false;
  return true;
}
template <typename T>
bool Read(ByteReader* in, std::optional<T>* value) {
  return Read(in, &value->emplace());
}

// A bound is its length plus 1, and its bytes. 0 is no bound.
void AppendBound(const std::optional<std::string>& bound, std::string* out) {
  AppendVarint(*out, bound.has_value() ? bound->size() + 1 : 0);
  if (bound.has_value()) out->append(*bound);
}
bool ReadBound(ByteReader* in, std::optional<std::string>* bound) {
  uint64_t length;
  std::string_view bytes;
  if (!in->ReadVarint(&length)) return false;
  if (length == 0) return true;
  if (!in->ReadRaw(length - 1, &bytes)) return false;
  bound->emplace(bytes);
  return true;
}

void AppendRanges(const std::vector<TraceRecord::Range>& ranges, std::string* out) {
  AppendVarint(*out, ranges.size());
  for (const TraceRecord::Range& range : ranges) {
    AppendBound(range.start, out);
    AppendBound(range.end, out);
  }
}
bool ReadRanges(ByteReader* in, std::vector<TraceRecord::Range>* ranges) {
  uint64_t count;
  if (!in->ReadVarint(&count) || count > in->remaining() / 2) return false;
  ranges->reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    TraceRecord::Range& range = ranges->emplace_back();
    if (!ReadBound(in, &range.start) || !ReadBound(in, &range.end)) return false;
  }
  return true;
}

// Calls `visit` with the bit and the value of each member, in the order of the format. Stops when
// it returns false.
template <typename Record, typename Visit>
bool ForEachMember(Record& record, const Visit& visit) {
  return visit(kRow, record.row) && visit(kKeys, record.keys) && visit(kStart, record.start) &&
         visit(kEnd, record.end) && visit(kLast, record.last) && visit(kLimit, record.limit) &&
         visit(kFilter, record.filter) && visit(kFamilies, record.families) &&
         visit(kRowsSeen, record.rows_seen) && visit(kRowsReturned, record.rows_returned) &&
         visit(kCellsSeen, record.cells_seen) && visit(kCellsReturned, record.cells_returned) &&
         visit(kBytes, record.bytes) && visit(kBytesRead, record.bytes_read) &&
         visit(kLatency, record.latency_micros) && visit(kCells, record.cells) &&
         visit(kIncrements, record.increments) && visit(kColumns, record.columns) &&
         visit(kBatch, record.batch) && visit(kCall, record.call) &&
         visit(kStatus, record.status) && visit(kTag, record.tag);
}

uint64_t MembersOf(const TraceRecord& record) {
  uint64_t members = 0;
  if (record.has_ranges) members |= kRanges;
  if (record.is_reverse) members |= kReverse;
  ForEachMember(record, [&](uint64_t bit, const auto& value) {
    if (IsSet(value)) members |= bit;
    return true;
  });
  return members;
}

// Without a branch: from branches, the compiler makes a table of all combinations.
constexpr uint64_t MembersIf(bool is_set, uint64_t members) {
  return static_cast<uint64_t>(is_set) * members;
}

}  // namespace

void AppendTraceRecord(const TraceRecord& record, std::string* out) {
  const uint64_t members = MembersOf(record);
  out->push_back(static_cast<char>(record.op));
  AppendVarint(*out, static_cast<uint64_t>(record.micros));
  AppendVarint(*out, members);
  AppendBytes(*out, record.table);
  ForEachMember(record, [&](uint64_t bit, const auto& value) {
    if ((members & bit) != 0) Append(value, out);
    return true;
  });
  if (record.has_ranges) AppendRanges(record.ranges, out);
}

// The operation, and at most 14 varints.
size_t PointReadBytesMax(const PointReadRecord& record) {
  return 1 + 14 * kVarintBytesMax + record.table.size() + record.row.size() + record.filter.size() +
         record.family.value_or("").size() + record.status.size() + record.tag.size();
}

// In the order of ForEachMember. The bytes are written through a pointer: a record takes a part of
// the time of a cached read, and a string that checks its capacity for each byte takes more.
char* StorePointRead(const PointReadRecord& record, char* out) {
  const uint64_t members =
      kLatency | MembersIf(!record.row.empty(), kRow) | MembersIf(!record.filter.empty(), kFilter) |
      MembersIf(record.family.has_value(), kFamilies) |
      MembersIf(record.returned.has_value(), kRowsReturned | kCellsReturned | kBytes) |
      MembersIf(!record.status.empty(), kStatus) | MembersIf(!record.tag.empty(), kTag);
  char* at = out;
  *at++ = static_cast<char>(TraceOp::kGet);
  at = StoreVarint(at, static_cast<uint64_t>(record.micros));
  at = StoreVarint(at, members);
  at = StoreBytes(at, record.table);
  if (!record.row.empty()) at = StoreBytes(at, record.row);
  if (!record.filter.empty()) at = StoreBytes(at, record.filter);
  if (record.family.has_value()) {
    at = StoreVarint(at, 1);
    at = StoreBytes(at, *record.family);
  }
  if (record.returned.has_value()) {
    at = StoreVarint(at, record.returned->rows);
    at = StoreVarint(at, record.returned->cells);
    at = StoreVarint(at, record.returned->bytes);
  }
  at = StoreVarint(at, record.latency_micros);
  if (!record.status.empty()) at = StoreBytes(at, record.status);
  if (!record.tag.empty()) at = StoreBytes(at, record.tag);
  return at;
}

bool ReadTraceRecord(ByteReader* in, TraceRecord* record) {
  uint8_t op;
  uint64_t micros;
  uint64_t members;
  if (!in->ReadByte(&op) || op >= kOpsEnd || !in->ReadVarint(&micros) || micros > INT64_MAX ||
      !in->ReadVarint(&members) || members >= kMembersEnd || !Read(in, &record->table))
    return false;
  record->op = static_cast<TraceOp>(op);
  record->micros = static_cast<int64_t>(micros);
  record->has_ranges = (members & kRanges) != 0;
  record->is_reverse = (members & kReverse) != 0;
  return ForEachMember(
             *record,
             [&](uint64_t bit, auto& value) { return (members & bit) == 0 || Read(in, &value); }) &&
         (!record->has_ranges || ReadRanges(in, &record->ranges));
}

}  // namespace stele::internal
