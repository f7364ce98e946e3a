#include "lab/survey/key_patterns.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lab/kinds/value_kinds.h"

namespace stele::internal::lab {
namespace {

constexpr std::string_view kShardSeparators = "#._-";
constexpr size_t kShardDigitsMax = 3;
constexpr int64_t kSecondsPerDay = 86'400;

bool IsKeyDigit(char c) { return c >= '0' && c <= '9'; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

int ShardNumberOf(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

ShardedKey MakeShardedKey(std::string rest, std::string_view digits) {
  return {.rest = std::move(rest),
          .number = ShardNumberOf(digits),
          .digit_count = static_cast<int>(digits.size())};
}

// Removes the first of `endings` that `text` ends with. Returns whether there was one.
bool ConsumeSuffix(std::string_view& text, std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    return true;
  }
  return false;
}

}  // namespace

std::optional<ShardedKey> ParseShardedKey(std::string_view key) {
  size_t begin = key.size();
  while (begin > 0 && IsKeyDigit(key[begin - 1])) --begin;
  size_t count = key.size() - begin;
  if (count >= 1 && count <= kShardDigitsMax && begin > 0 &&
      kShardSeparators.find(key[begin - 1]) != std::string_view::npos)
    return MakeShardedKey(std::string(key.substr(0, begin)), key.substr(begin));
  count = static_cast<size_t>(std::find_if_not(key.begin(), key.end(), IsKeyDigit) - key.begin());
  if (count >= 1 && count <= kShardDigitsMax && count < key.size() &&
      kShardSeparators.find(key[count]) != std::string_view::npos)
    return MakeShardedKey(std::string(key.substr(count)), key.substr(0, count));
  return std::nullopt;
}

std::optional<VersionedKey> ParseVersionedKey(std::string_view key) {
  if (!key.starts_with('v')) return std::nullopt;
  const size_t underscore = key.find('_');
  if (underscore == std::string_view::npos) return std::nullopt;
  const std::string_view digits = key.substr(1, underscore - 1);
  if (!IsDigits(digits) || (digits.starts_with('0') && digits != "0")) return std::nullopt;
  return VersionedKey{.rest = key.substr(underscore + 1), .is_current = digits == "0"};
}

bool IsPartOfValue(std::string_view key) {
  const size_t all = key.size();
  while (!key.empty() && IsKeyDigit(key.back())) key.remove_suffix(1);
  if (key.size() == all) return false;
  ConsumeSuffix(key, {"#", "_", "-"});
  const std::string lower = Lower(key.substr(key.size() - std::min<size_t>(key.size(), 5)));
  std::string_view rest = lower;
  return ConsumeSuffix(rest, {"part", "chunk", "piece"});
}

bool IsObjectAddress(std::string_view text) {
  return text.starts_with("s3://") || text.starts_with("https://storage");
}

bool IsDateName(std::string_view name) {
  std::string plain = Lower(name);
  std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
  constexpr std::array<std::string_view, 4> kAfterDate = {"created", "uploaded", "updated",
                                                          "modified"};
  std::string_view rest = plain;
  if (rest.starts_with("date") &&
      std::find(kAfterDate.begin(), kAfterDate.end(), rest.substr(4)) != kAfterDate.end())
    return true;
  constexpr std::array<std::string_view, 11> kEvents = {
      "created", "creation", "create",   "uploaded",     "upload",     "updated",
      "update",  "modified", "inserted", "lastmodified", "lastupdated"};
  constexpr std::array<std::string_view, 6> kEndings = {"",     "at",   "on",
                                                        "date", "time", "timestamp"};
  return std::any_of(kEvents.begin(), kEvents.end(), [&](std::string_view event) {
    return rest.starts_with(event) &&
           std::find(kEndings.begin(), kEndings.end(), rest.substr(event.size())) != kEndings.end();
  });
}

bool IsExpiryName(std::string_view name) {
  const std::string lower = Lower(name);
  constexpr std::array<std::string_view, 7> kNames = {
      "ttl", "expires", "expireat", "expiresat", "expiration", "expirationtime", "timetolive"};
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

std::optional<int64_t> DayOfDigits(std::string_view text) {
  if ((text.size() != 10 && text.size() != 13) || !IsDigits(text) || !IsTime(text))
    return std::nullopt;
  int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + 10, seconds);
  return seconds / kSecondsPerDay;
}

}  // namespace stele::internal::lab
