// tests/fuzz/trace_fuzz.cc: reads bytes as the lines of a trace, and counts the operations in a
// map.
//
// Finds:     a read beyond the bytes; an operation outside of the bands; a sum that is not the
//            number of counted operations.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "lab/dynamodb/json_document.h"
#include "lab/heat_map/key_store.h"
#include "lab/heat_map/table_map.h"
#include "lab/trace/trace_fields.h"
#include "stele/lab/heat_map.h"

namespace {

using stele::internal::lab::KeyStore;
using stele::internal::lab::TableMap;
using stele::internal::lab::TraceRecord;
using stele::lab::HeatMap;
using stele::lab::HeatMetric;

// Returns the records of all lines that are valid.
std::vector<TraceRecord> ReadRecords(std::string_view text) {
  std::vector<TraceRecord> records;
  stele::internal::lab::JsonParser parser(16);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    simdjson::dom::element document;
    simdjson::dom::object json;
    TraceRecord record;
    if (parser.ParseCopy(line, &document).ok() && document.get(json) == simdjson::SUCCESS &&
        stele::internal::lab::ReadTraceRecord(json, &record).ok())
      records.push_back(std::move(record));
  }
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto records = ReadRecords(std::string_view(reinterpret_cast<const char*>(data), size));
  KeyStore keys(KeyStore::kDefaultBytesMax);
  TableMap map("t", 0);
  for (const TraceRecord& record : records) {
    map.NoteOperation(record);
    if (record.is_point()) keys.Add(0, record.row, 1);
    if (record.last.has_value()) keys.Add(0, *record.last, 0);
  }
  keys.Finish();
  map.BeginBands(keys.KeysOf(0), 16);
  keys.ForEach(
      [&](uint16_t /*table*/, std::string_view key, uint64_t /*count*/) { map.AddKnownKey(key); });
  STELE_CHECK(map.BeginCells({.columns = 60}).ok());
  map.AllocateCells();
  double least = 0;
  for (const TraceRecord& record : records) {
    map.Count(record);
    least += record.op == stele::internal::lab::TraceOp::kMget
                 ? static_cast<double>(record.keys.size())
                 : 1;
  }
  const HeatMap built = map.Finish("t", 1);
  STELE_CHECK(built.Sum(HeatMetric::kOps) >= least);
  STELE_CHECK(built.Sum(HeatMetric::kReads) + built.Sum(HeatMetric::kWrites) ==
              built.Sum(HeatMetric::kOps));
  STELE_CHECK(!built.ToJson(HeatMetric::kOps).empty() && built.ToCsv().empty() == (least == 0));
  STELE_CHECK(!built.ToText(HeatMetric::kBytes, HeatMap::TextStyle::k256Colors).empty());
  return 0;
}
