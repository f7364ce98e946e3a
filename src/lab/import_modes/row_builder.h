// import_modes/row_builder.h: builds the row of an item: its cells, and the time of its cells.
//
// Errors:    InvalidArgument that names the attribute.
// Threads:   confined to one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/mapping/mapping.h"
#include "lab/values/item.h"
#include "stele/lab/dynamodb.h"
#include "stele/mutation.h"
#include "stele/schema.h"
#include "stele/timestamp.h"

namespace stele::internal::lab {

// How an import chooses the times of cells.
struct TimeRules {
  Timestamp now;        // the start of the import
  Timestamp timestamp;  // of items without another one
  std::string timestamp_attribute = {};
  std::string ttl_attribute = {};
  bool keeps_expired = false;
};

// The time of an item.
struct ItemTime {
  Timestamp timestamp;
  bool expires = false;       // the timestamp is the expiry time
  bool is_expired = false;    // the item has expired, and is not imported
  bool lacks_expiry = false;  // the item has no valid expiry time, although others have
};

// Errors: the timestamp attribute is missing or no time.
absl::StatusOr<ItemTime> TimeOf(const TimeRules& rules, const Item& item);

// Counts the cells of one table by family.
class FamilyCounts {
 public:
  void Add(std::string_view family) {
    for (auto& [name, count] : counts_) {
      if (name != family) continue;
      ++count;
      return;
    }
    counts_.emplace_back(family, 1);
  }
  void AddTo(stele::lab::DynamoDbImportReport::TableCounts* counts) const {
    for (const auto& [name, count] : counts_) counts->cells[name] += count;
  }
  // Undoes AddTo().
  void TakeFrom(stele::lab::DynamoDbImportReport::TableCounts* counts) const {
    for (const auto& [name, count] : counts_) {
      const auto found = counts->cells.find(name);
      found->second -= count;
      if (found->second == 0) counts->cells.erase(found);
    }
  }

 private:
  std::vector<std::pair<std::string, uint64_t>> counts_;
};

void AddItemCells(const Mapping& mapping, const Item& item, const ItemTime& time, RowMutation* row,
                  FamilyCounts* counts);

// The kinds of families that the items of a table need.
struct FamilyNeeds {
  bool sets = false;
  bool maps = false;
  bool types = false;
  bool expiring = false;

  void Add(const Mapping& mapping, const Item& item);
};
// The rule of families whose cells have their expiry time as timestamp.
GcRule ExpiryRule();
std::vector<FamilySchema> FamiliesOf(const FamilyNeeds& needs);

}  // namespace stele::internal::lab
