// survey/key_patterns.h: the forms of keys and names that are common in tables of DynamoDB.
//
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stele::internal::lab {

// A key with the number of a shard: "day.1" or "1#day", with one to three digits, after or before
// one of # . _ -
struct ShardedKey {
  std::string rest;  // the key without the digits, common to all its shards
  int number = 0;
  int digit_count = 0;
};
std::optional<ShardedKey> ParseShardedKey(std::string_view key);

// "v0_X", "v1_X", "v12_X": a version of X.
struct VersionedKey {
  std::string_view rest;
  bool is_current = false;  // v0
};
std::optional<VersionedKey> ParseVersionedKey(std::string_view key);

// Ends with "part", "chunk" or "piece" in any case, perhaps one of # _ -, and digits.
bool IsPartOfValue(std::string_view key);
// Begins like the address of an object in a store of objects.
bool IsObjectAddress(std::string_view text);

// The name of an attribute with the time of the creation or of a change of an item.
bool IsDateName(std::string_view name);
// The name of an attribute with the time at which an item expires.
bool IsExpiryName(std::string_view name);

// 10 digits that are a time in seconds, or 13 that are one in milliseconds: its day since 1970.
std::optional<int64_t> DayOfDigits(std::string_view text);

}  // namespace stele::internal::lab
