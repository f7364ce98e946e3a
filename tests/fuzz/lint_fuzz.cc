// tests/fuzz/lint_fuzz.cc: parses bytes as lines of a trace, and as lines of rows.
//
// Finds:     a read beyond the bytes; a crash in the facts about operations; a row that no line
//            describes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "lab/dynamodb/json_document.h"
#include "lab/staging/row_line.h"
#include "lab/trace/operation_facts.h"
#include "lab/trace/trace_fields.h"
#include "lab/trace/trace_tables.h"

namespace {

using stele::internal::lab::KnownKeys;
using stele::internal::lab::OperationFacts;
using stele::internal::lab::TraceRecord;

// Collects the facts about the operations of each table, as stele lint does.
void CheckFacts(const std::vector<TraceRecord>& records) {
  stele::internal::lab::TraceTables tables;
  for (const TraceRecord& record : records) STELE_CHECK(tables.Add(record).ok());
  tables.Finish();
  for (auto& [name, table] : tables.tables()) {
    const std::string delimiter = table.Delimiter();
    table.prefix_scans.Start(delimiter);
    for (const std::string& key : table.keys.keys()) table.prefix_scans.Match(key);
    (void)table.prefix_scans.Clashes();
    OperationFacts facts({.writes_per_minute = 1, .sustained_writes = 1}, delimiter, 1, table.keys);
    for (const TraceRecord& record : records)
      if (record.table == name) facts.Add(record);
    STELE_CHECK(!facts.needs_recount());
    facts.Finish();
    if (facts.spread().LargestToMean() > 0) (void)facts.spread().hottest_key();
    STELE_CHECK(facts.spread().Gini() < 1);
    (void)facts.write_order().RankCorrelation();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  stele::internal::lab::JsonParser traces(16);
  std::vector<TraceRecord> records;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string padded(text.substr(0, end));
    padded.append(simdjson::SIMDJSON_PADDING, '\0');
    const std::string_view line = std::string_view(padded).substr(0, end);
    TraceRecord record;
    simdjson::dom::element document;
    simdjson::dom::object json;
    if (traces.Parse(line, &document).ok() && document.get(json) == simdjson::SUCCESS &&
        stele::internal::lab::ReadTraceRecord(json, &record).ok())
      records.push_back(std::move(record));
    stele::internal::lab::StagedRow row;
    if (ParseRowLine(line, &row).ok()) STELE_CHECK(row.row.count() > 0 && !row.families.empty());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  CheckFacts(records);
  return 0;
}
