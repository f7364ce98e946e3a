#include "lab/survey/item_survey.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "lab/kinds/value_kinds.h"
#include "lab/survey/key_patterns.h"

namespace stele::internal::lab {
namespace {

constexpr uint64_t kItemsMin = 20;
constexpr uint64_t kShardNumbersMin = 2;
constexpr uint64_t kShardNumbersMax = 256;

bool IsMost(uint64_t part, uint64_t all) { return all > 0 && part * 100 >= all * 95; }

// 1234567 becomes 1,234,567.
std::string GroupedDigits(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

// "1 item", "2 items". `noun` is a singular.
std::string CountOf(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", GroupedDigits(count), noun, count == 1 ? "" : "s");
}

std::string_view LastKeyPart(std::string_view key) { return key.substr(key.rfind('#') + 1); }

}  // namespace

void ItemSurvey::Count(std::string_view name, bool is_time, Attributes* attributes) {
  auto found = attributes->find(name);
  if (found == attributes->end()) {
    if (attributes->size() == kNamesMax) return;
    found = attributes->emplace(name, TimeCounts{}).first;
  }
  ++found->second.values;
  found->second.times += is_time ? 1 : 0;
}

void ItemSurvey::AddAttribute(const Item::Node& attribute) {
  const bool is_number = attribute.type == AttributeType::kNumber;
  if (!is_number && attribute.type != AttributeType::kString) return;
  if (IsDateName(attribute.name)) Count(attribute.name, IsTime(attribute.text), &dates_);
  if (is_number && !options_.has_ttl && IsExpiryName(attribute.name))
    Count(attribute.name, attribute.text.size() == 10 && IsTime(attribute.text), &expiries_);
}

void ItemSurvey::AddSortKey(std::string_view sort_key, bool is_number, uint64_t position) {
  ++sort_key_count_;
  if (is_number && DayOfDigits(sort_key).has_value()) ++time_key_count_;
  if (IsReversedTime(LastKeyPart(sort_key))) reversed_.Add(position);
}

absl::Status ItemSurvey::Add(const Item& item, uint64_t position) {
  SurveyedItem keys;
  bool has_part = false;
  bool has_number = false;
  for (uint32_t i = 0; i < item.size(); i = item[i].next) {
    const Item::Node& attribute = item[i];
    if (attribute.name == options_.partition_key) {
      keys.partition_key = attribute.text;
    } else if (!options_.sort_key.empty() && attribute.name == options_.sort_key) {
      keys.sort_key = attribute.text;
      keys.has_sort_key = true;
      keys.has_numeric_sort_key = attribute.type == AttributeType::kNumber;
      has_part = has_part || IsPartOfValue(attribute.text);
    } else {
      ++keys.attribute_count;
      has_number = attribute.type == AttributeType::kNumber;
      AddAttribute(attribute);
    }
  }
  keys.is_only_a_number = keys.attribute_count == 1 && has_number;
  for (uint32_t i = 0; i < item.size() && !has_part; ++i)
    has_part = item[i].type == AttributeType::kString && IsObjectAddress(item[i].text);
  if (has_part) parts_.Add(position);
  if (keys.has_sort_key) AddSortKey(keys.sort_key, keys.has_numeric_sort_key, position);
  return siblings_.Add(keys, position);
}

void ItemSurvey::Report(std::string_view id, std::string_view severity, std::string message,
                        uint64_t count, std::vector<std::string> samples) {
  findings_.push_back({.id = std::string(id),
                       .severity = std::string(severity),
                       .message = std::move(message),
                       .count = count,
                       .samples = std::move(samples)});
}

void ItemSurvey::ReportItems(std::string_view id, std::string_view severity, std::string message,
                             const FoundItems& items) {
  std::vector<std::string> samples;
  for (const uint64_t position : items.positions) samples.push_back(text_(position));
  Report(id, severity, std::move(message), items.count, std::move(samples));
}

void ItemSurvey::ReportSiblings(const SiblingFacts& facts) {
  if (facts.old_versions.count > 0) {
    ReportItems("DDB-VERSION-COPIES", "warning",
                fmt::format("{} of an item v0_: store them as versions of its cells, in a family "
                            "with maxversions",
                            CountOf(facts.old_versions.count, "old version")),
                facts.old_versions);
  }
  if (facts.counters.count > 0) {
    ReportItems("DDB-SPLIT-COUNTER", "info",
                fmt::format("{} only a number, beside an item with more: make it a column of that "
                            "row and increment it",
                            CountOf(facts.counters.count, "item") +
                                (facts.counters.count == 1 ? " is" : " are")),
                facts.counters);
  }
  if (facts.references.count > 0) {
    ReportItems("DDB-ADJACENCY", "info",
                fmt::format("the sort key of {} is the partition key of another item: a relation "
                            "can be a column of a wide row, or a row in each direction",
                            CountOf(facts.references.count, "item")),
                facts.references);
  } else if (facts.heads.count > 0) {
    ReportItems("DDB-ADJACENCY", "info",
                fmt::format("the sort key of {} is its partition key, and other items have that "
                            "partition key: they can be columns of one wide row",
                            CountOf(facts.heads.count, "item")),
                facts.heads);
  }
}

void ItemSurvey::ReportKeys(const SiblingFacts& facts) {
  if (reversed_.count >= kItemsMin) {
    ReportItems("DDB-REVERSE-TS-SK", "info",
                fmt::format("the sort key of {} ends with a reversed time: scans can read "
                            "backwards, so the time itself is enough",
                            CountOf(reversed_.count, "item")),
                reversed_);
  }
  if (parts_.count > 0) {
    ReportItems("DDB-SPLIT-VALUE", "info",
                fmt::format("{} a part of a value, or its address: a cell may have 10 MB and more, "
                            "so store the value",
                            CountOf(parts_.count, "item") + (parts_.count == 1 ? " has" : " have")),
                parts_);
  }
  if (facts.partition_count >= kItemsMin && IsMost(facts.sharded_count, facts.partition_count) &&
      !facts.has_single_shards && facts.shard_number_count >= kShardNumbersMin &&
      facts.shard_number_count <= kShardNumbersMax) {
    Report("DDB-SHARD-SUFFIX", "info",
           fmt::format("{} the number of a shard, {} numbers: tablets are split by load, so leave "
                       "it out, or begin the key with a bucket (stele key salt)",
                       CountOf(facts.sharded_count, "partition key") +
                           (facts.sharded_count == 1 ? " has" : " have"),
                       facts.shard_number_count),
           facts.sharded_count);
  }
  if (sort_key_count_ >= kItemsMin && IsMost(time_key_count_, sort_key_count_) &&
      IsMost(facts.single_day_count, facts.day_count)) {
    Report("DDB-DATE-STRING", "info",
           fmt::format("the sort key of {} is a time, with one item per day: a date (yyyymmdd) is "
                       "shorter, and people can read it",
                       CountOf(time_key_count_, "item")),
           time_key_count_);
  }
}

void ItemSurvey::ReportAttributes() {
  std::vector<std::string> dates;
  for (const auto& [name, counts] : dates_) {
    if (counts.values >= kItemsMin && IsMost(counts.times, counts.values)) dates.push_back(name);
  }
  if (!dates.empty()) {
    Report("DDB-DATE-ATTR", "info",
           fmt::format("{} the time of a change: every cell has a timestamp, which --timestamp can "
                       "set from one of them",
                       CountOf(dates.size(), "attribute") + (dates.size() == 1 ? " is" : " are")),
           dates.size(), dates);
  }
  std::vector<std::string> expiries;
  for (const auto& [name, counts] : expiries_) {
    if (IsMost(counts.times, counts.values)) expiries.push_back(name);
  }
  if (!expiries.empty()) {
    Report("DDB-TTL", "info",
           fmt::format(
               "{} like an expiry time: with --ttl, rows expire at it",
               CountOf(expiries.size(), "attribute") + (expiries.size() == 1 ? " looks" : " look")),
           expiries.size(), expiries);
  }
  if (!options_.indexes.empty()) {
    Report("DDB-GSI", "info",
           fmt::format("{} a table, which the application must write together with the main one",
                       options_.indexes.size() == 1
                           ? "1 index becomes"
                           : GroupedDigits(options_.indexes.size()) + " indexes become"),
           options_.indexes.size(), options_.indexes);
  }
}

absl::StatusOr<std::vector<ItemFinding>> ItemSurvey::Finish(
    const std::function<std::string(uint64_t position)>& text) {
  text_ = text;
  STELE_ASSIGN_OR_RETURN(const SiblingFacts facts, siblings_.Finish());
  ReportSiblings(facts);
  ReportKeys(facts);
  ReportAttributes();
  std::sort(findings_.begin(), findings_.end(), [](const auto& left, const auto& right) {
    // "warning" before "info"
    return std::tie(right.severity, left.id) < std::tie(left.severity, right.id);
  });
  return std::move(findings_);
}

}  // namespace stele::internal::lab
