#include "lab/import_modes/index_survey.h"

#include <algorithm>
#include <optional>

#include "base/status.h"
#include "lab/import_modes/import_mode.h"

namespace stele::internal::lab {
namespace {

bool MayBeKey(AttributeType type) {
  return type == AttributeType::kString || type == AttributeType::kNumber ||
         type == AttributeType::kBinary;
}

// True if nothing else is declared.
bool IsDeclared(std::string_view declared, AttributeType type) {
  return declared.empty() || declared == TypeName(type);
}

}  // namespace

IndexSurvey::IndexSurvey(stele::lab::DynamoDbIndex index, std::vector<std::string> names,
                         bool is_ordered, std::string delimiter)
    : index_(std::move(index)), empty_(std::move(names), is_ordered, std::move(delimiter)) {}

void IndexSurvey::NoteNoKey(std::string_view sample,
                            stele::lab::DynamoDbImportReport* report) const {
  AddNote("gsi-not-a-key", "warning",
          fmt::format("items that the index {} lacks, because their attributes cannot be keys",
                      index_.name),
          sample, report);
}

void IndexSurvey::Add(const Item& item, std::string_view sample,
                      stele::lab::DynamoDbImportReport* report) {
  const std::optional<uint32_t> first = item.Find(index_.partition_key);
  const std::optional<uint32_t> second =
      index_.sort_key.empty() ? first : item.Find(index_.sort_key);
  if (!first.has_value() || !second.has_value()) return;
  const Types types(item[*first].type,
                    index_.sort_key.empty() ? AttributeType::kString : item[*second].type);
  if (!MayBeKey(types.first) || !MayBeKey(types.second)) return NoteNoKey(sample, report);
  Group& group = groups_.try_emplace(types, empty_).first->second;
  if (!group.survey.Add(item).ok()) return NoteNoKey(sample, report);
  ++group.count;
  if (group.samples.size() < kSamplesMax) group.samples.emplace_back(sample);
}

// Of groups of the same size, the first one: S comes before N, and N before B.
std::map<IndexSurvey::Types, IndexSurvey::Group>::const_iterator IndexSurvey::ChosenGroup() const {
  auto chosen = groups_.end();
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    if (!IsDeclared(index_.partition_type, group->first.first)) continue;
    if (!IsDeclared(index_.sort_type, group->first.second)) continue;
    if (group->second.count == 0) continue;
    if (chosen == groups_.end() || group->second.count > chosen->second.count) chosen = group;
  }
  return chosen;
}

// "g S, h N"
std::string IndexSurvey::TextOf(const Types& types) const {
  std::string text = fmt::format("{} {}", Printable(index_.partition_key), TypeName(types.first));
  if (!index_.sort_key.empty())
    text += fmt::format(", {} {}", Printable(index_.sort_key), TypeName(types.second));
  return text;
}

absl::StatusOr<KeyLayout> IndexSurvey::Choose(stele::lab::DynamoDbImportReport* report) const {
  const auto chosen = ChosenGroup();
  if (chosen == groups_.end())
    AddNote("gsi-empty", "warning", "indexes without items", index_.name, report);
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    if (group == chosen) continue;
    const std::string message =
        fmt::format("items that the index {} lacks, because their attributes have other types: {}",
                    index_.name, TextOf(group->first));
    const auto& [survey, count, samples] = group->second;
    for (const std::string& sample : samples)
      AddNote("gsi-not-a-key", "warning", message, sample, report);
    if (count > samples.size())
      AddNote("gsi-not-a-key", "warning", message, "", report, count - samples.size());
  }
  return (chosen == groups_.end() ? empty_ : chosen->second.survey).Choose();
}

}  // namespace stele::internal::lab
