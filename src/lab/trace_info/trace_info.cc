#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "io/file_system.h"
#include "lab/trace/trace_fields.h"
#include "lab/trace/trace_input.h"
#include "lab/trace_info/top_rows.h"
#include "stele/lab/trace.h"

namespace stele::internal::lab {
namespace {

using stele::lab::TraceInfo;

constexpr size_t kInfoTablesMax = 10'000;
constexpr size_t kInfoTableBytesMax = size_t{8} << 20;
constexpr size_t kInfoTagsMax = 1'000;
constexpr size_t kInfoTagBytesMax = 1'024;
constexpr size_t kInfoRowBytesMax = 65'535;  // no table has a longer key

uint64_t SumUpToMax(uint64_t a, uint64_t b) { return a + std::min(b, UINT64_MAX - a); }

// Counts the records of a trace.
class InfoCounter {
 public:
  absl::Status Add(const TraceRecord& record) {
    if (info_.records == 0 || record.micros < info_.from_micros) info_.from_micros = record.micros;
    info_.to_micros = std::max(info_.to_micros, record.micros);
    ++info_.records;
    STELE_RETURN_IF_ERROR(AddOperation(record));
    if (record.is_point()) {
      AddRow(record.table, record.row);
      for (const std::string& key : record.keys) AddRow(record.table, key);
    }
    if (record.tag.empty() || record.tag.size() > kInfoTagBytesMax) return absl::OkStatus();
    const auto tag = tags_.find(record.tag);
    if (tag != tags_.end()) {
      ++tag->second;
    } else if (tags_.size() < kInfoTagsMax) {
      tags_.emplace(record.tag, 1);
    }
    return absl::OkStatus();
  }

  TraceInfo Finish() {
    for (auto& [table, operations] : tables_) {
      for (auto& [op, counts] : operations) {
        counts.table = table;
        counts.op = TraceOpName(op);
        info_.operations.push_back(std::move(counts));
      }
    }
    info_.tags = std::move(tags_);
    info_.rows = rows_.Take();
    return std::move(info_);
  }

 private:
  absl::Status AddOperation(const TraceRecord& record) {
    auto known = tables_.find(record.table);
    if (known == tables_.end()) {
      table_bytes_ += record.table.size();
      if (tables_.size() == kInfoTablesMax || table_bytes_ > kInfoTableBytesMax)
        return internal::InvalidArgument("the trace has more than {} tables, or {} bytes of names",
                                         kInfoTablesMax, kInfoTableBytesMax);
      known = tables_.try_emplace(record.table).first;
    }
    TraceInfo::Operations& counts = known->second[record.op];
    ++counts.records;
    counts.rows = SumUpToMax(counts.rows, record.rows_returned.value_or(0));
    counts.bytes = SumUpToMax(counts.bytes, record.bytes.value_or(0));
    if (!record.status.empty()) ++counts.errors;
    return absl::OkStatus();
  }

  void AddRow(const std::string& table, const std::string& row) {
    if (!row.empty() && row.size() <= kInfoRowBytesMax) rows_.Add(table, row);
  }

  TraceInfo info_;
  std::map<std::string, std::map<TraceOp, TraceInfo::Operations>> tables_;
  size_t table_bytes_ = 0;
  TopRows rows_;
  std::map<std::string, uint64_t> tags_;
};

absl::StatusOr<TraceInfo> ReadInfo(const std::string& path, bool skips_bad) {
  STELE_ASSIGN_OR_RETURN(const auto input, TraceInput::Open(path, {.skips_bad = skips_bad}));
  InfoCounter counter;
  TraceRecord record;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, input->Next(&record));
    if (!any) break;
    const absl::Status added = counter.Add(record);
    if (!added.ok()) return input->WithPosition(added);
  }
  TraceInfo info = counter.Finish();
  info.path = path;
  STELE_ASSIGN_OR_RETURN(const auto file, PosixFileSystem()->Open(path, OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(info.file_bytes, file->Size());
  info.sample = input->sample();
  info.skipped_lines = input->skipped_lines();
  const TraceBlocks* const blocks = input->blocks();
  if (blocks == nullptr) return info;
  info.is_binary = true;
  info.is_complete = blocks->is_complete();
  info.seen = blocks->counts().operations;
  info.dropped = blocks->counts().dropped;
  info.stopped_at_limit = blocks->counts().stopped_at_limit;
  return info;
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<TraceInfo> TraceInfo::Read(const std::string& path, bool skips_bad) {
  return internal::lab::ReadInfo(path, skips_bad);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
