// survey/sibling_survey.h: finds relations between the items of a table of DynamoDB, among any
// number of items: items with the same partition key, and keys that refer to other items.
//
// Errors:    errors of the temporary file.
// Threads:   confined to one thread.
// Memory:    32 MiB.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "lab/values/key_hashes.h"

namespace stele::internal::lab {

// The parts of an item that the relations need. Keys are values as text.
struct SurveyedItem {
  std::string_view partition_key;
  std::string_view sort_key;
  bool has_sort_key = false;
  bool has_numeric_sort_key = false;
  uint32_t attribute_count = 0;   // without the keys
  bool is_only_a_number = false;  // one attribute, an N
};

// The number of items, and the positions of the first ones.
struct FoundItems {
  static constexpr size_t kPositionsMax = 3;

  uint64_t count = 0;
  std::set<uint64_t> positions = {};

  void Add(uint64_t position);
};

struct SiblingFacts {
  FoundItems old_versions;       // v1_X beside v0_X
  FoundItems counters;           // only a number, next to an item with two or more attributes
  FoundItems references;         // the sort key is the partition key of another item
  FoundItems heads;              // the sort key is the partition key, and there are other items
  uint64_t partition_count = 0;  // different partition keys
  uint64_t sharded_count = 0;    // of them, with the number of a shard
  uint64_t shard_number_count = 0;
  bool has_single_shards = false;  // a sharded key occurs with one number only
  uint64_t day_count = 0;          // different pairs of a partition key and a day
  uint64_t single_day_count = 0;   // of them, with one item
};

class SiblingSurvey {
 public:
  // `position` has at most 60 bits.
  absl::Status Add(const SurveyedItem& item, uint64_t position);
  // Call it once, at the end.
  absl::StatusOr<SiblingFacts> Finish();

 private:
  static constexpr size_t kMemoryBytes = size_t{32} << 20;
  static constexpr size_t kShardNumbers = 1000;

  // What an entry says about its key. Entries of one key are visited in this order.
  enum Kind : uint64_t {
    kItem,       // an item with this partition key
    kLargeItem,  // the same, with two or more attributes
    kCounter,    // the same, with one attribute, an N
    kHead,       // its sort key is the partition key; in addition to the three above
    kReference,  // an item with this sort key, and another partition key
    kCurrentVersion,
    kOldVersion,
    kShard,  // the position is the number of the shard
    kDay,
  };
  // The entries of one key.
  struct Group {
    uint64_t item_count = 0;
    bool has_large_item = false;
    bool has_current_version = false;
    uint64_t day_items = 0;
    uint64_t shards = 0;
    uint64_t last_shard = UINT64_MAX;
    FoundItems counters = {};
    FoundItems heads = {};
    FoundItems references = {};
    FoundItems old_versions = {};
  };

  absl::Status AddEntry(Kind kind, uint64_t position);
  absl::Status AddPatterns(const SurveyedItem& item, uint64_t position);
  void Visit(uint64_t packed);
  void EndGroup();

  KeyHashes hashes_{kMemoryBytes};
  std::string key_;
  Group group_;
  SiblingFacts facts_;
  std::bitset<kShardNumbers> shard_numbers_;
};

}  // namespace stele::internal::lab
