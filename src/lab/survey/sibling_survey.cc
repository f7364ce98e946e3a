#include "lab/survey/sibling_survey.h"

#include <iterator>

#include "base/status.h"
#include "lab/survey/key_patterns.h"

namespace stele::internal::lab {
namespace {

constexpr int kPositionBits = 60;

// Adds `more` to `all`.
void MergeItems(const FoundItems& more, FoundItems* all) {
  for (const uint64_t position : more.positions) all->Add(position);
  all->count += more.count - more.positions.size();
}

}  // namespace

void FoundItems::Add(uint64_t position) {
  ++count;
  positions.insert(position);
  if (positions.size() > kPositionsMax) positions.erase(std::prev(positions.end()));
}

absl::Status SiblingSurvey::AddEntry(Kind kind, uint64_t position) {
  return hashes_.Add(key_, (uint64_t{kind} << kPositionBits) | position);
}

absl::Status SiblingSurvey::Add(const SurveyedItem& item, uint64_t position) {
  key_.assign("P").append(item.partition_key);
  const Kind kind = item.is_only_a_number       ? kCounter
                    : item.attribute_count >= 2 ? kLargeItem
                                                : kItem;
  STELE_RETURN_IF_ERROR(AddEntry(kind, position));
  if (item.has_sort_key && item.sort_key == item.partition_key) {
    STELE_RETURN_IF_ERROR(AddEntry(kHead, position));
  } else if (item.has_sort_key) {
    key_.assign("P").append(item.sort_key);
    STELE_RETURN_IF_ERROR(AddEntry(kReference, position));
  }
  return AddPatterns(item, position);
}

absl::Status SiblingSurvey::AddPatterns(const SurveyedItem& item, uint64_t position) {
  if (const auto shard = ParseShardedKey(item.partition_key)) {
    key_.assign("S").append(shard->rest);
    // 1 and 01 are two partition keys.
    const auto code = static_cast<uint64_t>(shard->digit_count) * kShardNumbers +
                      static_cast<uint64_t>(shard->number);
    STELE_RETURN_IF_ERROR(AddEntry(kShard, code));
  }
  if (!item.has_sort_key) return absl::OkStatus();
  const std::string prefix =
      std::to_string(item.partition_key.size()) + ":" + std::string(item.partition_key);
  if (const auto version = ParseVersionedKey(item.sort_key)) {
    key_.assign("V").append(prefix).append(version->rest);
    STELE_RETURN_IF_ERROR(AddEntry(version->is_current ? kCurrentVersion : kOldVersion, position));
  }
  if (!item.has_numeric_sort_key) return absl::OkStatus();
  const auto day = DayOfDigits(item.sort_key);
  if (!day.has_value()) return absl::OkStatus();
  key_.assign("D").append(prefix).append(std::to_string(*day));
  return AddEntry(kDay, position);
}

absl::StatusOr<SiblingFacts> SiblingSurvey::Finish() {
  STELE_RETURN_IF_ERROR(hashes_.FinishEach(
      [this](uint64_t packed) {
        EndGroup();
        Visit(packed);
      },
      [this](const KeyHashes::Repeated& repeated) { Visit(repeated.position); }));
  EndGroup();
  facts_.shard_number_count = shard_numbers_.count();
  return facts_;
}

void SiblingSurvey::Visit(uint64_t packed) {
  const uint64_t position = packed & ((uint64_t{1} << kPositionBits) - 1);
  switch (static_cast<Kind>(packed >> kPositionBits)) {
    case kLargeItem:
      group_.has_large_item = true;
      ++group_.item_count;
      break;
    case kItem:
      ++group_.item_count;
      break;
    case kCounter:
      ++group_.item_count;
      group_.counters.Add(position);
      break;
    case kHead:
      group_.heads.Add(position);
      break;
    case kReference:
      group_.references.Add(position);
      break;
    case kCurrentVersion:
      group_.has_current_version = true;
      break;
    case kOldVersion:
      group_.old_versions.Add(position);
      break;
    case kShard:
      if (position != group_.last_shard) ++group_.shards;
      group_.last_shard = position;
      shard_numbers_.set(position % kShardNumbers);
      break;
    case kDay:
      ++group_.day_items;
      break;
  }
}

// Adds the entries of one key to the facts.
void SiblingSurvey::EndGroup() {
  if (group_.item_count > 0) {
    ++facts_.partition_count;
    if (group_.has_large_item) MergeItems(group_.counters, &facts_.counters);
    if (group_.item_count > 1) MergeItems(group_.heads, &facts_.heads);
    MergeItems(group_.references, &facts_.references);
  }
  if (group_.has_current_version) MergeItems(group_.old_versions, &facts_.old_versions);
  facts_.sharded_count += group_.shards;
  facts_.has_single_shards = facts_.has_single_shards || group_.shards == 1;
  facts_.day_count += group_.day_items > 0 ? 1 : 0;
  facts_.single_day_count += group_.day_items == 1 ? 1 : 0;
  group_ = Group();
}

}  // namespace stele::internal::lab
