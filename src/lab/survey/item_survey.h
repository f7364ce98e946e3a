// survey/item_survey.h: the DDB rules: findings about the design of a table of DynamoDB, from its
// items, with advice for Stele.
//
// Errors:    errors of a temporary file.
// Threads:   confined to one thread.
// Memory:    that of SiblingSurvey, and 1 MiB.
// Source:    docs/lab/dynamodb.md, "Findings".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/survey/sibling_survey.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

// A finding of a rule.
struct ItemFinding {
  std::string id;
  std::string severity;
  std::string message;  // with the count and the advice
  uint64_t count = 0;
  std::vector<std::string> samples = {};
};

class ItemSurvey {
 public:
  struct Options {
    std::string partition_key;
    std::string sort_key = {};  // "": none
    bool has_ttl = false;       // the expiry time is used
    std::vector<std::string> indexes = {};
  };

  explicit ItemSurvey(Options options) : options_(std::move(options)) {}

  // Adds an item that has the keys. `position` has at most 60 bits.
  absl::Status Add(const Item& item, uint64_t position);
  // Returns the findings, sorted by severity and id. `text` returns "FILE:LINE" of a position. Call
  // it once.
  absl::StatusOr<std::vector<ItemFinding>> Finish(
      const std::function<std::string(uint64_t position)>& text);

 private:
  static constexpr size_t kNamesMax = 1000;

  // The values of an attribute whose name a rule knows.
  struct TimeCounts {
    uint64_t values = 0;
    uint64_t times = 0;
  };
  using Attributes = std::map<std::string, TimeCounts, std::less<>>;

  static void Count(std::string_view name, bool is_time, Attributes* attributes);
  void AddAttribute(const Item::Node& attribute);
  void AddSortKey(std::string_view sort_key, bool is_number, uint64_t position);
  void ReportSiblings(const SiblingFacts& facts);
  void ReportKeys(const SiblingFacts& facts);
  void ReportAttributes();
  void Report(std::string_view id, std::string_view severity, std::string message, uint64_t count,
              std::vector<std::string> samples = {});
  void ReportItems(std::string_view id, std::string_view severity, std::string message,
                   const FoundItems& items);

  const Options options_;
  SiblingSurvey siblings_;
  Attributes dates_;
  Attributes expiries_;
  FoundItems reversed_;
  FoundItems parts_;
  uint64_t sort_key_count_ = 0;
  uint64_t time_key_count_ = 0;  // sort keys that are numbers and times
  std::function<std::string(uint64_t)> text_;
  std::vector<ItemFinding> findings_;
};

}  // namespace stele::internal::lab
