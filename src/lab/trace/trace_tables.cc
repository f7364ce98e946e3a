#include "lab/trace/trace_tables.h"

#include <algorithm>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kTraceTablesMax = 10'000;
constexpr size_t kKeyBytesMax = 65'535;  // no table has a longer key
constexpr size_t kPrefixBytesMax = size_t{4} << 20;

}  // namespace

std::string TraceTable::Delimiter() const {
  return row_delimiter.keys() > 0 ? row_delimiter.Choose() : start_delimiter.Choose();
}

absl::Status TraceTables::Add(const TraceRecord& record) {
  auto known = tables_.find(record.table);
  if (known == tables_.end()) {
    if (tables_.size() == kTraceTablesMax)
      return InvalidArgument("a trace of more than {} tables", kTraceTablesMax);
    known = tables_.try_emplace(record.table).first;
  }
  TraceTable& table = known->second;
  AddKeys(record, &table);
  prefix_bytes_ += table.prefix_scans.Add(record, prefix_bytes_ < kPrefixBytesMax);
  return absl::OkStatus();
}

void TraceTables::AddKeys(const TraceRecord& record, TraceTable* table) {
  if (record.op == TraceOp::kDrop) return;
  if (!record.row.empty()) AddKey(record.row, true, table);
  for (const std::string& key : record.keys) AddKey(key, true, table);
  if (record.last.has_value()) AddKey(*record.last, true, table);
  if (record.start.has_value()) AddKey(*record.start, false, table);
  for (const TraceRecord::Range& range : record.ranges)
    AddKey(range.start.value_or(""), false, table);
}

void TraceTables::AddKey(std::string_view key, bool is_row, TraceTable* table) {
  if (key.empty() || key.size() > kKeyBytesMax) return;
  (is_row ? table->row_delimiter : table->start_delimiter).Add(key);
  const size_t before = table->keys.bytes();
  table->keys.Add(key, is_row);
  key_bytes_ += table->keys.bytes() - before;
  while (key_bytes_ > KnownKeys::kBytesMax) {
    const auto largest = std::max_element(
        tables_.begin(), tables_.end(),
        [](const auto& a, const auto& b) { return a.second.keys.bytes() < b.second.keys.bytes(); });
    key_bytes_ -= largest->second.keys.bytes();
    largest->second.keys.Halve();
    key_bytes_ += largest->second.keys.bytes();
  }
}

void TraceTables::Finish() {
  for (auto& [name, table] : tables_) table.keys.Finish();
}

TraceTable* TraceTables::Find(const std::string& name) {
  const auto known = tables_.find(NameOf(name));
  return known == tables_.end() ? nullptr : &known->second;
}

std::string TraceTables::NameOf(const std::string& name) const {
  if (tables_.contains(name)) return name;
  const std::vector<std::string> names = FullNamesOf(name);
  return names.size() == 1 ? names[0] : "";
}

std::vector<std::string> TraceTables::FullNamesOf(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [full, table] : tables_)
    if (full.ends_with("/" + name)) names.push_back(full);
  return names;
}

}  // namespace stele::internal::lab
