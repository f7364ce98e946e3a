// tests/fuzz/dynamodb_fuzz.cc: parses bytes as DynamoDB JSON, lab JSON, a mapping, a data model of
// NoSQL Workbench, and numbers.
//
// Finds:     a read beyond the bytes; nodes that do not form a tree; a number that loses digits; a
//            value of lab JSON that is not read back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "lab/dynamodb/record_parser.h"
#include "lab/dynamodb/workbench_model.h"
#include "lab/mapping/lab_json.h"
#include "lab/mapping/mapping.h"
#include "lab/values/decimal.h"
#include "lab/values/time_text.h"

namespace {

// Every value ends where the value around it ends, or before.
void CheckTree(const stele::internal::lab::Item& item, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i = item[i].next) {
    STELE_CHECK(item[i].next > i && item[i].next <= end);
    if (item[i].type == stele::internal::lab::AttributeType::kNumber) {
      const auto number = stele::internal::lab::ParseDecimal(item[i].text);
      STELE_CHECK(number.ok());
      STELE_CHECK(*stele::internal::lab::ParseDecimal(stele::internal::lab::DecimalText(*number)) ==
                  *number);
      STELE_CHECK(*stele::internal::lab::ParseSortableDecimal(
                      stele::internal::lab::SortableDecimal(*number)) == *number);
    }
    CheckTree(item, i + 1, item[i].next);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string padded(text);
  padded.append(stele::internal::lab::kRecordPaddingBytes, '\0');
  const std::string_view json = std::string_view(padded).substr(0, size);
  stele::internal::lab::RecordParser parser;
  stele::internal::lab::Record record;
  if (parser.ParseLine(json, &record).ok()) {
    CheckTree(record.keys, 0, record.keys.size());
    if (record.has_item) CheckTree(record.item, 0, record.item.size());
  }
  stele::internal::lab::Item item;
  (void)parser.ParseRequest(json, &record);
  if (stele::internal::lab::ParseLabJson(text, "a", &item).ok()) {
    CheckTree(item, 0, item.size());
    std::string once;
    stele::internal::lab::AppendLabJson(item, 0, &once);
    stele::internal::lab::Item again;
    STELE_CHECK(stele::internal::lab::ParseLabJson(once, "a", &again).ok());
    std::string twice;
    stele::internal::lab::AppendLabJson(again, 0, &twice);
    STELE_CHECK(once == twice);
  }
  const auto mapping = stele::internal::lab::Mapping::Parse(text);
  STELE_CHECK(!mapping.ok() || stele::internal::lab::Mapping::Parse(mapping->ToJson()).ok());
  const auto index = stele::internal::lab::IndexMapping::Parse(text);
  STELE_CHECK(!index.ok() || stele::internal::lab::IndexMapping::Parse(index->ToJson()).ok());
  (void)stele::internal::lab::ParseWorkbenchModel(text, "model");
  const auto sortable = stele::internal::lab::ParseSortableDecimal(text);
  STELE_CHECK(!sortable.ok() || stele::internal::lab::SortableDecimal(*sortable) == text);
  (void)stele::internal::lab::ParseTime(text);
  return 0;
}
