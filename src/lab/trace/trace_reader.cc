#include "lab/trace/trace_reader.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr size_t kTraceLineBytesMax = size_t{64} << 20;
constexpr size_t kWaitingMax = 50'000;
constexpr size_t kWaitingBytesMax = size_t{32} << 20;

constexpr std::string_view kOps[] = {"get", "mget", "scan", "set", "del", "rmw", "cas", "drop"};

absl::Status WrongMember(std::string_view name) {
  return internal::InvalidArgument("\"{}\" is wrong", name);
}

absl::Status ReadNumber(const object& json, std::string_view name, std::optional<uint64_t>* out) {
  element value;
  if (json[name].get(value) != simdjson::SUCCESS) return absl::OkStatus();
  uint64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS) return WrongMember(name);
  *out = number;
  return absl::OkStatus();
}

// A text, or bytes in base64 under NAME_base64.
absl::Status ReadBytes(const object& json, std::string_view name, std::optional<std::string>* out) {
  element value;
  std::string_view text;
  if (json[name].get(value) == simdjson::SUCCESS) {
    if (value.get(text) != simdjson::SUCCESS) return WrongMember(name);
    *out = std::string(text);
  } else if (json[std::string(name) + "_base64"].get(value) == simdjson::SUCCESS) {
    std::string bytes;
    if (value.get(text) != simdjson::SUCCESS || !AppendDecodedBase64(text, &bytes))
      return WrongMember(name);
    *out = std::move(bytes);
  }
  return absl::OkStatus();
}

absl::Status ReadText(const object& json, std::string_view name, std::string* out) {
  std::optional<std::string> text;
  STELE_RETURN_IF_ERROR(ReadBytes(json, name, &text));
  if (text.has_value()) *out = *std::move(text);
  return absl::OkStatus();
}

// Returns false if there is no such member.
absl::StatusOr<bool> ReadList(const object& json, std::string_view name,
                              std::vector<std::string>* out) {
  element value;
  bool is_base64 = false;
  if (json[name].get(value) != simdjson::SUCCESS) {
    is_base64 = true;
    if (json[std::string(name) + "_base64"].get(value) != simdjson::SUCCESS) return false;
  }
  array list;
  if (value.get(list) != simdjson::SUCCESS) return WrongMember(name);
  for (const element item : list) {
    std::string_view text;
    std::string bytes;
    if (item.get(text) != simdjson::SUCCESS || (is_base64 && !AppendDecodedBase64(text, &bytes)))
      return WrongMember(name);
    out->push_back(is_base64 ? std::move(bytes) : std::string(text));
  }
  return true;
}

absl::Status ReadLists(const object& json, TraceRecord* record) {
  for (const auto& [name, list] : {std::pair("keys", &record->keys),
                                   {"increments", &record->increments},
                                   {"columns", &record->columns}}) {
    STELE_ASSIGN_OR_RETURN(const bool ignored, ReadList(json, name, list));
    static_cast<void>(ignored);
  }
  std::vector<std::string> families;
  STELE_ASSIGN_OR_RETURN(const bool has_families, ReadList(json, "families", &families));
  if (has_families) record->families = std::move(families);
  element ranges;
  record->has_ranges = json["ranges"].get(ranges) == simdjson::SUCCESS ||
                       json["ranges_base64"].get(ranges) == simdjson::SUCCESS;
  return absl::OkStatus();
}

absl::Status ReadRecord(const object& json, TraceRecord* record) {
  std::string_view op;
  std::string_view table;
  if (json["t"].get(record->micros) != simdjson::SUCCESS || record->micros < 0)
    return WrongMember("t");
  if (json["op"].get(op) != simdjson::SUCCESS) return WrongMember("op");
  const auto known = std::find(std::begin(kOps), std::end(kOps), op);
  if (known == std::end(kOps)) return WrongMember("op");
  record->op = static_cast<TraceOp>(known - std::begin(kOps));
  if (json["table"].get(table) != simdjson::SUCCESS) return WrongMember("table");
  record->table = table;
  STELE_RETURN_IF_ERROR(ReadText(json, "row", &record->row));
  STELE_RETURN_IF_ERROR(ReadBytes(json, "start", &record->start));
  STELE_RETURN_IF_ERROR(ReadBytes(json, "end", &record->end));
  STELE_RETURN_IF_ERROR(ReadText(json, "filter", &record->filter));
  STELE_RETURN_IF_ERROR(ReadText(json, "tag", &record->tag));
  for (const auto& [name, number] : {std::pair("limit", &record->limit),
                                     {"rows_seen", &record->rows_seen},
                                     {"rows_returned", &record->rows_returned},
                                     {"cells_seen", &record->cells_seen},
                                     {"cells_returned", &record->cells_returned},
                                     {"bytes", &record->bytes},
                                     {"cells", &record->cells},
                                     {"batch", &record->batch}})
    STELE_RETURN_IF_ERROR(ReadNumber(json, name, number));
  return ReadLists(json, record);
}

}  // namespace

TraceReader::TraceReader(std::unique_ptr<InputFile> file)
    : lines_(std::move(file), kTraceLineBytesMax, simdjson::SIMDJSON_PADDING) {}

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(auto file, InputFile::Open(path, false));
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(file)));
}

bool TraceReader::IsLater(const Waiting& a, const Waiting& b) {
  return a.record.micros != b.record.micros ? a.record.micros > b.record.micros : a.line > b.line;
}

absl::Status TraceReader::ParseLine(const InputLine& line, Waiting* waiting, bool* is_head) {
  if (line.is_too_long)
    return internal::InvalidArgument("the line has more than {} bytes", kTraceLineBytesMax);
  element document;
  STELE_RETURN_IF_ERROR(parser_.Parse(line.text, &document));
  object json;
  if (document.get(json) != simdjson::SUCCESS)
    return internal::InvalidArgument("not a JSON object");
  element version;
  *is_head = line.number == 1 && json["trace"].get(version) == simdjson::SUCCESS;
  if (*is_head) {
    std::optional<uint64_t> sample;
    STELE_RETURN_IF_ERROR(ReadNumber(json, "sample", &sample));
    if (sample.has_value() && (*sample == 0 || *sample > UINT32_MAX)) return WrongMember("sample");
    sample_ = sample.value_or(1);
    return absl::OkStatus();
  }
  STELE_RETURN_IF_ERROR(ReadRecord(json, &waiting->record));
  if (waiting->record.micros < returned_micros_)
    return internal::InvalidArgument("the time is more than {} lines too late", kWaitingMax);
  waiting->record.sample = sample_;
  waiting->line = line.number;
  waiting->bytes = line.text.size();
  return absl::OkStatus();
}

absl::StatusOr<bool> TraceReader::ReadLine() {
  InputLine line;
  STELE_ASSIGN_OR_RETURN(const bool any, lines_.Next(&line));
  if (!any) return false;
  Waiting waiting;
  bool is_head = false;
  const absl::Status parsed = ParseLine(line, &waiting, &is_head);
  if (!parsed.ok())
    return internal::WithContext(parsed, fmt::format("{}:{}", lines_.file().path(), line.number));
  if (is_head) return true;
  waiting_bytes_ += waiting.bytes;
  waiting_.push_back(std::move(waiting));
  std::push_heap(waiting_.begin(), waiting_.end(), IsLater);
  return true;
}

absl::StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  while (!at_end_ && waiting_.size() < kWaitingMax && waiting_bytes_ < kWaitingBytesMax) {
    STELE_ASSIGN_OR_RETURN(const bool any, ReadLine());
    at_end_ = !any;
  }
  if (waiting_.empty()) return false;
  std::pop_heap(waiting_.begin(), waiting_.end(), IsLater);
  *record = std::move(waiting_.back().record);
  waiting_bytes_ -= waiting_.back().bytes;
  waiting_.pop_back();
  returned_micros_ = record->micros;
  return true;
}

}  // namespace stele::internal::lab
