#include "lab/import_modes/row_builder.h"

#include <chrono>

#include "base/status.h"
#include "lab/mapping/item_cells.h"
#include "lab/values/decimal.h"
#include "lab/values/time_text.h"

namespace stele::internal::lab {
namespace {

constexpr int64_t kMillisMicros = 1000;
constexpr int64_t kSecondMicros = 1'000'000;
constexpr int64_t kExpirySecondsEnd = 253'370'764'800;  // the start of the year 9999

Timestamp RoundedDown(int64_t micros) {
  return Timestamp::FromMicros(micros - micros % kMillisMicros);
}

std::optional<int64_t> ExpirySeconds(const TimeRules& rules, const Item& item) {
  const std::optional<uint32_t> found = item.Find(rules.ttl_attribute);
  if (!found.has_value() || item[*found].type != AttributeType::kNumber) return std::nullopt;
  const std::optional<int64_t> seconds = ToInt64(*ParseDecimal(item[*found].text));
  if (!seconds.has_value() || *seconds < 0 || *seconds >= kExpirySecondsEnd) return std::nullopt;
  return seconds;
}

}  // namespace

absl::StatusOr<ItemTime> TimeOf(const TimeRules& rules, const Item& item) {
  ItemTime time{.timestamp = RoundedDown(rules.timestamp.micros())};
  if (!rules.timestamp_attribute.empty()) {
    const std::optional<uint32_t> found = item.Find(rules.timestamp_attribute);
    std::optional<int64_t> micros;
    if (found.has_value() && (item[*found].type == AttributeType::kString ||
                              item[*found].type == AttributeType::kNumber))
      micros = ParseTime(item[*found].text);
    if (!micros.has_value())
      return InvalidArgument(
          "the timestamp attribute \"{}\" is missing or no time; --timestamp-micros N is a time "
          "for all items",
          Printable(rules.timestamp_attribute));
    time.timestamp = RoundedDown(*micros);
  }
  if (rules.ttl_attribute.empty()) return time;
  const std::optional<int64_t> seconds = ExpirySeconds(rules, item);
  time.lacks_expiry = !seconds.has_value();
  if (!seconds.has_value()) return time;
  const bool is_past = *seconds * kSecondMicros <= rules.now.micros();
  if (is_past && rules.keeps_expired) return time;
  time.expires = !is_past;
  time.is_expired = is_past;
  time.timestamp = Timestamp::FromMicros(*seconds * kSecondMicros);
  return time;
}

void AddItemCells(const Mapping& mapping, const Item& item, const ItemTime& time, RowMutation* row,
                  FamilyCounts* counts) {
  EncodeItemCells(mapping, time.expires ? kExpiringFamilies : kFamilies, item,
                  [&](std::string_view family, std::string_view qualifier, std::string_view value) {
                    row->SetCell(family, qualifier, time.timestamp, value);
                    counts->Add(family);
                  });
}

void FamilyNeeds::Add(const Mapping& mapping, const Item& item) {
  for (uint32_t i = 0; i < item.size(); i = item[i].next) {
    sets = sets || (mapping.sets_as_columns && IsSet(item[i].type));
    maps = maps || (mapping.maps_as_columns && item[i].type == AttributeType::kMap);
  }
}

GcRule ExpiryRule() { return GcRule::MaxAge(std::chrono::milliseconds(1)); }

std::vector<FamilySchema> FamiliesOf(const FamilyNeeds& needs) {
  std::vector<FamilySchema> families;
  const auto add = [&](const FamilyNames& names, const GcRule& rule) {
    families.push_back({.name = std::string(names.attributes), .gc = rule});
    if (needs.sets) families.push_back({.name = std::string(names.sets), .gc = rule});
    if (needs.maps) families.push_back({.name = std::string(names.maps), .gc = rule});
    if (needs.types) families.push_back({.name = std::string(names.types), .gc = rule});
  };
  add(kFamilies, GcRule::MaxNumVersions(1));
  if (needs.expiring) add(kExpiringFamilies, ExpiryRule());
  return families;
}

}  // namespace stele::internal::lab
