#include "lab/workload/logical_trace.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/status.h"
#include "keys/hidden.h"
#include "keys/utf8.h"
#include "lab/design/map_fields.h"
#include "lab/input/input_file.h"
#include "lab/input/line_reader.h"
#include "lab/load/query_inputs.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTraceOperationsMax = 10'000'000;
constexpr size_t kLogicalRecordBytesMax = size_t{1} << 30;
constexpr int64_t kMicrosMax = INT64_MAX / 4;
constexpr size_t kLogicalFieldBytes = 128;  // of a field, without its text

// Reads the lines of a logical trace.
class LogicalTraceReader {
 public:
  explicit LogicalTraceReader(const std::vector<DesignTableChoice>& designs) : designs_(designs) {}

  absl::StatusOr<LogicalWorkload> Read(const std::string& path, const std::stop_token& stop) {
    STELE_RETURN_IF_ERROR(FindQueries());
    STELE_ASSIGN_OR_RETURN(auto file, InputFile::Open(path, false));
    LineReader lines(std::move(file), kLogicalLineBytesMax, 0);
    InputLine line;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, lines.Next(&line));
      if (!any) break;
      if (stop.stop_requested()) return absl::CancelledError("the read of the trace was stopped");
      const absl::Status added =
          line.is_too_long
              ? InvalidArgument("the line has more than {} bytes", kLogicalLineBytesMax)
              : AddLine(line.text);
      if (!added.ok())
        return WithContext(added, fmt::format("{}:{}", Printable(path), line.number));
    }
    if (workload_.operations.empty())
      return InvalidArgument("{} has no operation", Printable(path));
    workload_.has_times = has_all_times_;
    if (has_all_times_) SortByTime();
    return std::move(workload_);
  }

 private:
  // The queries of the first design's table, which all designs have.
  absl::Status FindQueries() {
    const DesignTableChoice& first = designs_[0];
    for (const std::string& name : first.design.queries(first.table)) {
      std::vector<QueryInputs> uses;
      for (const DesignTableChoice& choice : designs_) {
        STELE_ASSIGN_OR_RETURN(QueryInputs use,
                               QueryInputs::Find(choice.design, choice.table, name));
        uses.push_back(std::move(use));
      }
      STELE_ASSIGN_OR_RETURN(const std::string input, WrittenInputOf(designs_, name));
      places_.emplace(name, workload_.queries.size());
      workload_.queries.push_back({.name = name, .input = input});
      uses_.push_back(std::move(uses));
    }
    return absl::OkStatus();
  }

  absl::Status AddLine(std::string_view text) {
    const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) return InvalidArgument("not a JSON object");
    const auto name = line.find("query");
    if (name == line.end() || !name->is_string())
      return InvalidArgument("the line has no \"query\"");
    const auto place = places_.find(name->get_ref<const std::string&>());
    if (place == places_.end()) {
      return InvalidArgument("the first design has no query \"{}\"",
                             Printable(name->get_ref<const std::string&>()));
    }
    LogicalQuery& query = workload_.queries[place->second];
    const std::string member = query.input.empty() ? "params" : "record";
    stele::lab::Design::Record record;
    STELE_RETURN_IF_ERROR(AddFields(line, member, /*is_base64=*/false, &record));
    STELE_RETURN_IF_ERROR(AddFields(line, member + "_base64", /*is_base64=*/true, &record));
    const MapFields fields(record);
    for (size_t i = 0; i < designs_.size(); ++i) {
      const absl::Status usable = uses_[place->second][i].Check(fields, fields);
      if (!usable.ok()) return WithContext(usable, designs_[i].name);
    }
    for (const auto& [field, value] : record)
      bytes_ += kLogicalFieldBytes + field.size() + value.size();
    if (bytes_ > kLogicalRecordBytesMax || workload_.operations.size() >= kTraceOperationsMax)
      return InvalidArgument("more than {} operations or {} bytes", kTraceOperationsMax,
                             kLogicalRecordBytesMax);
    workload_.operations.push_back({.query = static_cast<uint32_t>(place->second),
                                    .record = static_cast<uint32_t>(query.records.size()),
                                    .micros = TimeOf(line)});
    query.records.push_back(std::move(record));
    return absl::OkStatus();
  }

  // As replay sorts a recorded trace. The first operation then has the time 0.
  void SortByTime() {
    std::vector<LogicalOperation>& operations = workload_.operations;
    std::ranges::stable_sort(operations, {}, &LogicalOperation::micros);
    const int64_t first = operations.front().micros;
    for (LogicalOperation& operation : operations) operation.micros -= first;
    const int64_t last = operations.back().micros;
    if (last == 0) return;
    workload_.recorded_rate =
        static_cast<double>(operations.size() - 1) * 1e6 / static_cast<double>(last);
  }

  // Returns the time in microseconds, or 0 if the line has none.
  int64_t TimeOf(const Json& line) {
    const auto time = line.find("t");
    const bool is_time = time != line.end() && time->is_number_integer() &&
                         !(time->is_number_unsigned() && time->get<uint64_t>() > INT64_MAX);
    if (!is_time) {
      has_all_times_ = false;
      return 0;
    }
    // Limited, so that the difference of two times does not overflow.
    return std::clamp(time->get<int64_t>(), -kMicrosMax, kMicrosMax);
  }

  static absl::Status AddFields(const Json& line, const std::string& member, bool is_base64,
                                stele::lab::Design::Record* record) {
    const auto fields = line.find(member);
    if (fields == line.end()) return absl::OkStatus();
    if (!fields->is_object()) return InvalidArgument("\"{}\" is not an object", member);
    for (const auto& [field, value] : fields->items()) {
      std::string text;
      const bool is_right =
          value.is_string() &&
          (!is_base64 || AppendDecodedBase64(value.get_ref<const std::string&>(), &text));
      if (!is_right) {
        return InvalidArgument("\"{}\": the field \"{}\" is not a text", member, Printable(field));
      }
      if (!is_base64) text = value.get<std::string>();
      record->insert_or_assign(field, std::move(text));
    }
    return absl::OkStatus();
  }

  const std::vector<DesignTableChoice>& designs_;
  std::map<std::string, size_t, std::less<>> places_;  // of the queries, by name
  std::vector<std::vector<QueryInputs>> uses_;         // by query and design
  size_t bytes_ = 0;
  bool has_all_times_ = true;
  LogicalWorkload workload_;
};

}  // namespace

std::string LogicalLine(std::string_view query, bool writes,
                        const stele::lab::Design::Record& fields, int64_t micros) {
  Json texts = Json::object();
  Json bytes = Json::object();
  for (const auto& [field, value] : fields) {
    if (!FirstNotUtf8(value).has_value()) {
      texts[field] = value;
      continue;
    }
    std::string base64;
    AppendBase64(value, &base64);
    bytes[field] = std::move(base64);
  }
  const std::string member = writes ? "record" : "params";
  Json line = {{"t", micros}, {"query", query}, {member, std::move(texts)}};
  if (!bytes.empty()) line[member + "_base64"] = std::move(bytes);
  return EscapeHidden(line.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

absl::StatusOr<LogicalWorkload> ReadLogicalTrace(const std::string& path,
                                                 const std::vector<DesignTableChoice>& designs,
                                                 const std::stop_token& stop) {
  return LogicalTraceReader(designs).Read(path, stop);
}

}  // namespace stele::internal::lab
