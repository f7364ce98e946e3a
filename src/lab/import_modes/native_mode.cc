#include "lab/import_modes/native_mode.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/mapping/item_cells.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kDuplicatesListedMax = 20;
constexpr size_t kItemBytesNoted = size_t{400} << 10;

std::vector<std::string> KeyNames(const std::string& partition_key, const std::string& sort_key) {
  std::vector<std::string> names = {partition_key};
  if (!sort_key.empty()) names.push_back(sort_key);
  return names;
}

// The attributes of the index, and those of the table that the index does not have.
std::vector<std::string> IndexKeyNames(const stele::lab::DynamoDbIndex& index,
                                       const DynamoDbImportOptions& options) {
  std::vector<std::string> names = KeyNames(index.partition_key, index.sort_key);
  for (std::string& name : KeyNames(options.partition_key, options.sort_key)) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

DynamoDbImportReport::TableKey DescribeLayout(const KeyLayout& layout) {
  DynamoDbImportReport::TableKey key{.form = layout.is_ordered() ? "ordered" : "delimited",
                                     .delimiter = layout.delimiter()};
  for (const KeyPart& part : layout.parts())
    key.attributes.push_back(
        {.name = part.name, .type = std::string(TypeName(part.type)), .pad_width = part.pad_width});
  return key;
}

size_t ItemBytes(const Item& item) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < item.size(); ++i) bytes += item[i].name.size() + item[i].text.size();
  return bytes;
}

}  // namespace

NativeMode::NativeMode(const DynamoDbImportOptions& options, std::string source_table,
                       TimeRules times)
    : options_(options),
      times_(std::move(times)),
      key_survey_(KeyNames(options.partition_key, options.sort_key), options.has_ordered_keys,
                  options.delimiter) {
  mapping_.table = std::move(source_table);
  mapping_.sets_as_columns = !options.has_sets_as_json;
  mapping_.maps_as_columns = options.has_maps_as_columns;
  mapping_.counters.insert(options.counters.begin(), options.counters.end());
  unseen_counters_ = mapping_.counters;
  mapping_.ttl = options.ttl_attribute;
  needs_.expiring = !options.ttl_attribute.empty();
  for (const stele::lab::DynamoDbIndex& index : options.indexes) {
    indexes_.push_back({.options = index,
                        .survey = IndexSurvey(index, IndexKeyNames(index, options_),
                                              options.has_ordered_keys, options.delimiter),
                        .key = {}});
  }
}

absl::Status NativeMode::Survey(const Record& record, uint64_t position) {
  if (record.is_change)
    return InvalidArgument("the line is a change: only an incremental export has changes");
  const Item& item = record.item;
  STELE_RETURN_IF_ERROR(CheckItemCells(mapping_, item));
  STELE_ASSIGN_OR_RETURN(const ItemTime time, TimeOf(times_, item));
  STELE_RETURN_IF_ERROR(key_survey_.Add(item));
  STELE_RETURN_IF_ERROR(keys_.Add(key_survey_.Identity(item), position));
  const std::string_view sample = item[*item.Find(options_.partition_key)].text;
  needs_.Add(mapping_, item);
  uint32_t key_count = 0;
  uint32_t attribute_count = 0;
  for (uint32_t i = 0; i < item.size(); i = item[i].next) {
    const bool is_key = item[i].name == options_.partition_key || item[i].name == options_.sort_key;
    key_count += is_key ? 1 : 0;
    ++attribute_count;
    if (!is_key) attributes_.Add(item[i].name, item[i].type);
    if (unseen_counters_.empty() || item[i].type != AttributeType::kNumber) continue;
    if (const auto seen = unseen_counters_.find(item[i].name); seen != unseen_counters_.end())
      unseen_counters_.erase(seen);
  }
  has_items_without_cells_ = has_items_without_cells_ || attribute_count == key_count;
  if (time.lacks_expiry) {
    AddNote(
        "ttl-not-a-time", "info",
        fmt::format("items without a time in \"{}\" never expire", Printable(times_.ttl_attribute)),
        sample, &notes_);
  }
  if (ItemBytes(item) > kItemBytesNoted)
    AddNote("item-above-400KB", "info", "items that DynamoDB would not accept", sample, &notes_);
  for (Index& index : indexes_) index.survey.Add(item, sample, &notes_);
  return absl::OkStatus();
}

absl::Status NativeMode::ReportDuplicates(const PositionText& text) {
  std::vector<std::string> lines;
  uint64_t count = 0;
  STELE_ASSIGN_OR_RETURN(
      const uint64_t distinct, keys_.Finish([&](uint64_t first, uint64_t repeated) {
        if (++count <= kDuplicatesListedMax)
          lines.push_back(
              fmt::format("\n  {}: the item of {} has the same key", text(repeated), text(first)));
      }));
  (void)distinct;
  keys_.Clear();
  if (count == 0) return absl::OkStatus();
  std::string message = fmt::format(
      "KEY-DUP-IMPORT: {} items have the key of another item: are --partition-key and "
      "--sort-key those of the table?",
      count);
  for (const std::string& line : lines) message.append(line);
  return InvalidArgument("{}", message);
}

absl::Status NativeMode::EndSurvey(const PositionText& text, DynamoDbImportReport* report) {
  STELE_RETURN_IF_ERROR(ReportDuplicates(text));
  STELE_ASSIGN_OR_RETURN(mapping_.key, key_survey_.Choose());
  for (Index& index : indexes_) {
    auto key = index.survey.Choose(&notes_);
    if (!key.ok()) return WithContext(key.status(), "index " + index.options.name);
    index.key = *std::move(key);
  }
  mapping_.types = attributes_.CommonTypes();
  needs_.types = has_items_without_cells_ || attributes_.HasOtherTypes(mapping_.types);
  report->has_more_attributes = !attributes_.is_complete();
  DescribeAttributes(report);
  report->notes.insert(report->notes.end(), notes_.notes.begin(), notes_.notes.end());
  for (const std::string& name : unseen_counters_)
    AddNote("counter-empty", "warning", "counters that no item has as a number", name, report);
  DescribeKey(report);
  return absl::OkStatus();
}

void NativeMode::DescribeAttributes(DynamoDbImportReport* report) const {
  for (const auto& [name, counts] : attributes_.counts()) {
    std::map<std::string, uint64_t>& types = report->attributes[name];
    for (int i = 0; i < kAttributeTypeCount; ++i) {
      if (counts[static_cast<size_t>(i)] > 0)
        types[std::string(TypeName(static_cast<AttributeType>(i)))] =
            counts[static_cast<size_t>(i)];
    }
    if (types.size() > 1)
      AddNote("mixed-type", "info", "attributes that have several types", name, report);
  }
}

void NativeMode::DescribeKey(DynamoDbImportReport* report) const {
  DynamoDbImportReport::TableKey key = DescribeLayout(mapping_.key);
  report->key = std::move(key.attributes);
  report->key_form = std::move(key.form);
  report->delimiter = std::move(key.delimiter);
  for (const Index& index : indexes_)
    report->index_keys[IndexTable(index)] = DescribeLayout(index.key);
  if (!options_.delimiter.empty() || mapping_.key.delimiter().empty()) return;
  for (const char delimiter : KeySurvey::kDelimiters) {
    if (delimiter == mapping_.key.delimiter()[0]) return;
    if (!report->key_remark.empty()) report->key_remark += ", ";
    report->key_remark += fmt::format("\"{}\" occurs in {} partition keys", delimiter,
                                      key_survey_.CountWith(delimiter));
  }
}

std::string NativeMode::IndexTable(const Index& index) const {
  return options_.table + "." + index.options.name;
}

absl::StatusOr<std::vector<TablePlan>> NativeMode::Tables() const {
  std::vector<TablePlan> plans;
  TablePlan main{.name = options_.table, .schema = {}};
  for (FamilySchema& family : FamiliesOf(needs_)) main.schema.AddFamily(std::move(family));
  if (options_.mapping_path.empty()) {
    main.property = kMappingProperty;
    main.schema.SetProperty(std::string(kMappingProperty), mapping_.ToJson());
  }
  plans.push_back(std::move(main));
  for (const Index& index : indexes_) {
    TablePlan plan{.name = IndexTable(index), .schema = {}};
    if (index.options.has_item_copies) {
      for (FamilySchema& family : FamiliesOf(needs_)) plan.schema.AddFamily(std::move(family));
    } else {
      plan.schema.AddFamily(std::string(kIndexFamily), GcRule::MaxNumVersions(1));
      if (needs_.expiring) plan.schema.AddFamily(std::string(kExpiringIndexFamily), ExpiryRule());
    }
    if (options_.mapping_path.empty()) {
      const IndexMapping stored{.index_of = options_.table,
                                .has_item_copies = index.options.has_item_copies,
                                .key = index.key};
      plan.property = kIndexProperty;
      plan.schema.SetProperty(std::string(kIndexProperty), stored.ToJson());
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

absl::Status NativeMode::Convert(const Record& record, const RowSink& sink,
                                 DynamoDbImportReport* report) {
  STELE_ASSIGN_OR_RETURN(const ItemTime time, TimeOf(times_, record.item));
  if (time.is_expired) {
    ++report->items_expired;
    return absl::OkStatus();
  }
  STELE_ASSIGN_OR_RETURN(const std::string row_key, mapping_.key.Encode(record.item));
  RowMutation row(row_key);
  FamilyCounts counts;
  AddItemCells(mapping_, record.item, time, &row, &counts);
  DynamoDbImportReport::TableCounts& table = report->tables[options_.table];
  counts.AddTo(&table);
  ++table.rows;
  ++report->items_written;
  STELE_RETURN_IF_ERROR(sink(0, std::move(row)));
  for (size_t i = 0; i < indexes_.size(); ++i)
    STELE_RETURN_IF_ERROR(ConvertForIndex(i + 1, record.item, time, row_key, sink, report));
  return absl::OkStatus();
}

absl::Status NativeMode::ConvertForIndex(size_t table, const Item& item, const ItemTime& time,
                                         const std::string& row_key, const RowSink& sink,
                                         DynamoDbImportReport* report) {
  Index& index = indexes_[table - 1];
  const auto index_key = index.key.Encode(item);
  if (!index_key.ok()) return absl::OkStatus();  // noted by the survey, or not in the index
  RowMutation row(*index_key);
  FamilyCounts counts;
  if (index.options.has_item_copies) {
    AddItemCells(mapping_, item, time, &row, &counts);
  } else {
    const std::string_view family = time.expires ? kExpiringIndexFamily : kIndexFamily;
    row.SetCell(family, kIndexQualifier, time.timestamp, row_key);
    counts.Add(family);
  }
  DynamoDbImportReport::TableCounts& table_counts = report->tables[IndexTable(index)];
  counts.AddTo(&table_counts);
  ++table_counts.rows;
  return sink(table, std::move(row));
}

}  // namespace stele::internal::lab
