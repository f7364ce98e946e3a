#include "lab/trace/trace_fields.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/status.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view kTraceOps[] = {"get", "mget", "scan", "set",
                                          "del", "rmw",  "cas",  "drop"};
constexpr std::string_view kBase64Suffix = "_base64";
constexpr uint64_t kTraceLinesVersion = 1;

absl::Status WrongMember(std::string_view name, std::string_view allowed) {
  return internal::InvalidArgument("\"{}\" must be {}", name, allowed);
}

absl::Status MissingMember(std::string_view name, std::string_view allowed) {
  return internal::InvalidArgument(
      "the line has no \"{}\", which must be {}{}", name, allowed,
      name == "op" ? "; if it has a \"query\", \"stele replay --design\" runs it" : "");
}

bool GetText(const element& value, bool is_base64, std::string* out) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return false;
  out->clear();
  if (is_base64) return AppendDecodedBase64(text, out);
  out->assign(text);
  return true;
}

bool GetTexts(const element& value, bool is_base64, std::vector<std::string>* out) {
  array list;
  if (value.get(list) != simdjson::SUCCESS) return false;
  out->clear();
  for (const element item : list)
    if (!GetText(item, is_base64, &out->emplace_back())) return false;
  return true;
}

// An end of a range; null is no bound.
bool GetBound(const element& value, bool is_base64, std::optional<std::string>* out) {
  if (value.is_null()) return true;
  return GetText(value, is_base64, &out->emplace());
}

bool GetRanges(const element& list_value, bool is_base64, std::vector<TraceRecord::Range>* out) {
  array list;
  if (list_value.get(list) != simdjson::SUCCESS) return false;
  for (const element item : list) {
    array pair;
    if (item.get(pair) != simdjson::SUCCESS || pair.size() != 2) return false;
    TraceRecord::Range& range = out->emplace_back();
    std::optional<std::string>* bounds[] = {&range.start, &range.end};
    size_t bound = 0;
    for (const element value : pair)
      if (!GetBound(value, is_base64, bounds[bound++])) return false;
  }
  return true;
}

bool GetNumber(const element& value, std::optional<uint64_t>* out) {
  return value.get(out->emplace()) == simdjson::SUCCESS;
}

bool GetOp(const element& value, TraceOp* op) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return false;
  const auto known = std::find(std::begin(kTraceOps), std::end(kTraceOps), text);
  *op = static_cast<TraceOp>(known - std::begin(kTraceOps));
  return known != std::end(kTraceOps);
}

// Reads the value of a member. Returns false for a wrong one.
using ReadValue = bool (*)(const element& value, bool is_base64, TraceRecord* record);

template <auto Member>
bool ReadText(const element& value, bool is_base64, TraceRecord* record) {
  return GetText(value, is_base64, &(record->*Member));
}
template <auto Member>
bool ReadBound(const element& value, bool is_base64, TraceRecord* record) {
  return GetText(value, is_base64, &(record->*Member).emplace());
}
template <auto Member>
bool ReadTexts(const element& value, bool is_base64, TraceRecord* record) {
  return GetTexts(value, is_base64, &(record->*Member));
}
template <auto Member>
bool ReadNumber(const element& value, bool /*is_base64*/, TraceRecord* record) {
  return GetNumber(value, &(record->*Member));
}

bool ReadTime(const element& value, bool /*is_base64*/, TraceRecord* record) {
  return value.get(record->micros) == simdjson::SUCCESS && record->micros >= 0;
}
bool ReadOp(const element& value, bool /*is_base64*/, TraceRecord* record) {
  return GetOp(value, &record->op);
}
bool ReadReverse(const element& value, bool /*is_base64*/, TraceRecord* record) {
  return value.get(record->is_reverse) == simdjson::SUCCESS;
}
bool ReadFamilies(const element& value, bool is_base64, TraceRecord* record) {
  return GetTexts(value, is_base64, &record->families.emplace());
}
bool ReadRanges(const element& value, bool is_base64, TraceRecord* record) {
  record->has_ranges = true;
  return GetRanges(value, is_base64, &record->ranges);
}

struct TraceMember {
  std::string_view name;
  ReadValue read;
  std::string_view allowed;
  bool may_be_base64 = false;
};

constexpr std::string_view kNumber = "a whole number of at least 0";
constexpr std::string_view kText = "a text";
constexpr std::string_view kBytes = "a text, or base64 with \"_base64\" after the name";
constexpr std::string_view kList = "a list of texts, or of base64 with \"_base64\" after the name";

// The required members come first.
constexpr size_t kRequiredMembers = 3;
constexpr TraceMember kTraceMembers[] = {
    {"t", ReadTime, "a whole number of microseconds since 1970"},
    {"op", ReadOp, "get, mget, scan, set, del, rmw, cas or drop"},
    {"table", ReadText<&TraceRecord::table>, kText},
    {"row", ReadText<&TraceRecord::row>, kBytes, true},
    {"keys", ReadTexts<&TraceRecord::keys>, kList, true},
    {"start", ReadBound<&TraceRecord::start>, kBytes, true},
    {"end", ReadBound<&TraceRecord::end>, kBytes, true},
    {"last", ReadBound<&TraceRecord::last>, kBytes, true},
    {"ranges", ReadRanges, "a list of [start, end]; null is no bound", true},
    {"reverse", ReadReverse, "true or false"},
    {"limit", ReadNumber<&TraceRecord::limit>, kNumber},
    {"filter", ReadText<&TraceRecord::filter>, kBytes, true},
    {"families", ReadFamilies, kList, true},
    {"rows_seen", ReadNumber<&TraceRecord::rows_seen>, kNumber},
    {"rows_returned", ReadNumber<&TraceRecord::rows_returned>, kNumber},
    {"cells_seen", ReadNumber<&TraceRecord::cells_seen>, kNumber},
    {"cells_returned", ReadNumber<&TraceRecord::cells_returned>, kNumber},
    {"bytes", ReadNumber<&TraceRecord::bytes>, kNumber},
    {"bytes_read", ReadNumber<&TraceRecord::bytes_read>, kNumber},
    {"lat_us", ReadNumber<&TraceRecord::latency_micros>, kNumber},
    {"cells", ReadNumber<&TraceRecord::cells>, kNumber},
    {"increments", ReadTexts<&TraceRecord::increments>, kList, true},
    {"columns", ReadTexts<&TraceRecord::columns>, kList, true},
    {"batch", ReadNumber<&TraceRecord::batch>, kNumber},
    {"call", ReadNumber<&TraceRecord::call>, kNumber},
    {"status", ReadText<&TraceRecord::status>, kText},
    {"tag", ReadText<&TraceRecord::tag>, kBytes, true}};

// Finds a member by its name. Most of the time of a trace is spent on this and in the parser.
class TraceMemberIndex {
 public:
  constexpr TraceMemberIndex() {
    for (size_t i = 0; i < std::size(kTraceMembers); ++i) {
      size_t slot = SlotOf(kTraceMembers[i].name);
      while (members_[slot] != 0) slot = (slot + 1) % kSlots;
      members_[slot] = static_cast<uint8_t>(i + 1);
    }
  }

  // Returns kNone if there is none.
  size_t Find(std::string_view name) const {
    if (name.empty()) return kNone;
    for (size_t slot = SlotOf(name); members_[slot] != 0; slot = (slot + 1) % kSlots)
      if (kTraceMembers[members_[slot] - 1u].name == name) return members_[slot] - 1u;
    return kNone;
  }
  static constexpr size_t kNone = SIZE_MAX;

 private:
  static constexpr size_t kSlots = 128;
  static constexpr size_t SlotOf(std::string_view name) {
    return (name.size() * 11 + static_cast<unsigned char>(name.front()) * 5 +
            static_cast<unsigned char>(name.back()) * 3) %
           kSlots;
  }
  uint8_t members_[kSlots] = {};  // the number of the member plus 1; 0: a free slot
};

constexpr TraceMemberIndex kTraceMemberIndex;

}  // namespace

absl::Status ReadTraceRecord(const object& json, TraceRecord* record) {
  uint32_t found = 0;  // a bit per member
  for (const auto& [name, value] : json) {
    const bool is_base64 = name.ends_with(kBase64Suffix);
    const std::string_view plain =
        is_base64 ? name.substr(0, name.size() - kBase64Suffix.size()) : name;
    const size_t member = kTraceMemberIndex.Find(plain);
    if (member == TraceMemberIndex::kNone) continue;
    if (is_base64 && !kTraceMembers[member].may_be_base64) continue;
    if (!kTraceMembers[member].read(value, is_base64, record))
      return WrongMember(plain, kTraceMembers[member].allowed);
    found |= uint32_t{1} << member;
  }
  for (size_t member = 0; member < kRequiredMembers; ++member)
    if ((found >> member & 1) == 0)
      return MissingMember(kTraceMembers[member].name, kTraceMembers[member].allowed);
  return absl::OkStatus();
}

std::string_view TraceOpName(TraceOp op) { return kTraceOps[static_cast<size_t>(op)]; }

absl::Status ReadTraceHead(const object& json, uint64_t* sample) {
  *sample = 1;
  element value;
  uint64_t version = 0;
  if (json["trace"].get(value) != simdjson::SUCCESS || value.get(version) != simdjson::SUCCESS ||
      version == 0)
    return WrongMember("trace", "1, the version of the format");
  if (version > kTraceLinesVersion)
    return internal::Unimplemented(
        "the trace has version {} of JSON lines, and this program reads version {}: use a newer "
        "one",
        version, kTraceLinesVersion);
  if (json["sample"].get(value) != simdjson::SUCCESS) return absl::OkStatus();
  uint64_t read = 0;
  if (value.get(read) != simdjson::SUCCESS || read == 0 || read > UINT32_MAX)
    return WrongMember("sample", "a whole number from 1 to 4294967295");
  *sample = read;
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
