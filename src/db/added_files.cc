#include "db/added_files.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// Limits the time and the memory for hostile edits.
constexpr uint64_t kComparisonsMax = uint64_t{1} << 32;
constexpr size_t kStackMax = size_t{1} << 20;

// Rows whose older cells a compaction has merged into a file.
struct Replacement {
  uint64_t file_number = 0;  // of the output, or of the only file that is replaced
  bool is_of_one_file = false;
  KeyRange rows;
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
};

bool Replaces(const Replacement& replacement, const ReferenceEdit& older) {
  if (replacement.is_of_one_file) return older.file_number == replacement.file_number;
  return older.file_number < replacement.file_number &&
         older.sequence_first >= replacement.sequence_first &&
         older.sequence_last <= replacement.sequence_last;
}

// Appends the references that the file of `place` replaced. These are its inputs, and the older
// files whose commits are within those of the file. Of such older files, it replaced the rows from
// the first input to the last.
void AppendReplacements(const FilePlace& place, std::vector<Replacement>* replacements) {
  if (place.inputs.empty()) return;
  Replacement of_all{.file_number = place.reference.file_number,
                     .rows = *place.inputs.front().range,
                     .sequence_first = place.reference.sequence_first,
                     .sequence_last = place.reference.sequence_last};
  for (const ReferenceEdit& input : place.inputs) {
    replacements->push_back(
        {.file_number = input.file_number, .is_of_one_file = true, .rows = *input.range});
    of_all.rows = Hull(of_all.rows, *input.range);
  }
  replacements->push_back(std::move(of_all));
}

// Removes `rows` from the ranges.
void Subtract(const KeyRange& rows, std::vector<KeyRange>* ranges) {
  std::vector<KeyRange> rest;
  for (KeyRange& range : *ranges) {
    if (!range.Overlaps(rows)) {
      rest.push_back(std::move(range));
      continue;
    }
    KeyRange before = Intersect(range, {"", rows.start, false});
    if (!before.IsEmpty()) rest.push_back(std::move(before));
    if (rows.unbounded_end) continue;
    KeyRange after = Intersect(range, {rows.end, "", true});
    if (!after.IsEmpty()) rest.push_back(std::move(after));
  }
  *ranges = std::move(rest);
}

// Returns the rows of the reference that are not replaced. The commit of a bulk load is unknown, so
// only a compaction that names it as an input replaces it.
std::vector<KeyRange> RowsLeft(const ReferenceEdit& reference, bool is_load,
                               const std::vector<Replacement>& replacements) {
  std::vector<KeyRange> rows;
  if (!reference.range.IsEmpty()) rows.push_back(*reference.range);
  for (const Replacement& replacement : replacements) {
    if (rows.empty()) break;
    if (is_load && !replacement.is_of_one_file) continue;
    if (Replaces(replacement, reference)) Subtract(replacement.rows, &rows);
  }
  return rows;
}

void AppendReferences(const ReferenceEdit& reference, std::vector<KeyRange> rows,
                      std::vector<ReferenceEdit>* stack) {
  for (KeyRange& range : rows) {
    stack->push_back(reference);
    stack->back().range = std::move(range);
  }
}

// Returns true if two references have a row and a commit in common (engine rule 1).
bool Contradict(const ReferenceEdit& a, const ReferenceEdit& b) {
  return a.sequence_first <= b.sequence_last && b.sequence_first <= a.sequence_last &&
         a.range.Overlaps(b.range);
}

// Gives a bulk load a commit of its own: the first one after the newest commit before the load that
// no file with rows of the load has.
void PlaceLoad(const std::vector<ReferenceEdit>& stack, ReferenceEdit* load) {
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (const ReferenceEdit& other : stack) {
    if (other.sequence_last > load->sequence_last && other.range.Overlaps(load->range))
      taken.emplace_back(other.sequence_first, other.sequence_last);
  }
  std::sort(taken.begin(), taken.end());
  uint64_t next = load->sequence_last + 1;
  for (const auto& [first, last] : taken) {
    if (first > next) break;
    next = std::max(next, last + 1);
  }
  load->sequence_first = next;
  load->sequence_last = next;
}

class TabletStack {
 public:
  TabletStack(std::vector<FilePlace> places, std::vector<ReferenceEdit> listed, AddedFiles* added)
      : places_(std::move(places)), stack_(std::move(listed)), added_(*added) {
    std::sort(places_.begin(), places_.end(), [](const FilePlace& a, const FilePlace& b) {
      return a.reference.file_number > b.reference.file_number;
    });
    for (const ReferenceEdit& reference : stack_) {
      replacements_.push_back({.file_number = reference.file_number,
                               .rows = *reference.range,
                               .sequence_first = reference.sequence_first,
                               .sequence_last = reference.sequence_last});
    }
    for (const FilePlace& place : places_) {
      if (!place.may_be_added) AppendReplacements(place, &replacements_);
    }
  }

  // Newer files come first, since they replace older ones. Bulk loads come last, in the order of
  // their files.
  absl::StatusOr<std::vector<ReferenceEdit>> Build() {
    for (const FilePlace& place : places_) {
      if (!place.may_be_added || place.is_load) continue;
      STELE_RETURN_IF_ERROR(Count(place));
      Add(place);
    }
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
      if (!place->may_be_added || !place->is_load) continue;
      STELE_RETURN_IF_ERROR(Count(*place));
      for (KeyRange& rows : RowsLeft(place->reference, /*is_load=*/true, replacements_)) {
        ReferenceEdit reference = place->reference;
        reference.range = std::move(rows);
        PlaceLoad(stack_, &reference);
        stack_.push_back(std::move(reference));
        added_.numbers.insert(place->reference.file_number);
      }
    }
    std::stable_sort(stack_.begin(), stack_.end(),
                     [](const ReferenceEdit& a, const ReferenceEdit& b) {
                       return a.sequence_last > b.sequence_last;
                     });
    return std::move(stack_);
  }

 private:
  // Counts the comparisons for the next file, and returns an error above the limits.
  absl::Status Count(const FilePlace& place) {
    const uint64_t replaced = place.inputs.size() + 1;
    added_.comparisons += replacements_.size() + replaced * (stack_.size() + replaced);
    if (added_.comparisons <= kComparisonsMax && stack_.size() <= kStackMax)
      return absl::OkStatus();
    return InvalidArgument("there are too many SSTables in a tablet to compare them");
  }

  void Add(const FilePlace& place) {
    std::vector<Replacement> replaced;
    AppendReplacements(place, &replaced);
    std::vector<ReferenceEdit> kept;
    for (const ReferenceEdit& reference : stack_)
      AppendReferences(reference, RowsLeft(reference, /*is_load=*/false, replaced), &kept);
    const size_t kept_count = kept.size();
    AppendReferences(place.reference, RowsLeft(place.reference, /*is_load=*/false, replacements_),
                     &kept);
    for (size_t i = kept_count; i < kept.size(); ++i) {
      const bool is_contradicted =
          std::any_of(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(kept_count),
                      [&](const ReferenceEdit& other) { return Contradict(other, kept[i]); });
      if (!is_contradicted) continue;
      added_.refused.insert(place.reference.file_number);
      return;
    }
    if (kept.size() == kept_count && !place.reference.range.IsEmpty()) return;  // it is replaced
    added_.numbers.insert(place.reference.file_number);
    stack_ = std::move(kept);
    replacements_.insert(replacements_.end(), replaced.begin(), replaced.end());
  }

  std::vector<FilePlace> places_;  // by descending number
  std::vector<ReferenceEdit> stack_;
  std::vector<Replacement> replacements_;
  AddedFiles& added_;
};

}  // namespace

absl::Status AddPlaces(std::vector<FilePlace> places, std::vector<ReferenceEdit>* stack,
                       AddedFiles* added) {
  TabletStack tablet(std::move(places), std::move(*stack), added);
  STELE_ASSIGN_OR_RETURN(*stack, tablet.Build());
  return absl::OkStatus();
}

}  // namespace stele::internal
