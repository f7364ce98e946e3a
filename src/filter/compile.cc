#include "filter/compile.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "model/access.h"
#include "model/filter_node.h"

namespace stele::internal {
namespace {

// A filter may have many regexes, each with its own RE2 cache. More regexes than this share the
// memory that this many would get.
constexpr int64_t kLargestRegexesAtOnce = 16;
constexpr uint64_t kManySteps = uint64_t{1} << 31;  // greater numbers are all treated alike

int64_t CountRegexes(const FilterNode& node) {
  const bool is_regex =
      node.kind == FilterKind::kFamilyRegex || node.kind == FilterKind::kColumnRegex ||
      node.kind == FilterKind::kValueRegex || node.kind == FilterKind::kRowKeyRegex;
  int64_t count = is_regex && Pattern::NeedsRe2(node.text) ? 1 : 0;
  for (const Filter& child : node.children) count += CountRegexes(Access::Node(child));
  return count;
}

// The least qualifier greater than this one.
std::string JustAfter(std::string_view qualifier) { return std::string(qualifier) + '\0'; }

ColumnRange ToColumnRange(uint32_t family, const ByteRange& qualifiers) {
  ColumnRange range = ColumnRange::OfFamily(family);
  range.first = qualifiers.start_bound() == RangeBound::kOpen ? JustAfter(qualifiers.start())
                                                              : qualifiers.start();
  if (qualifiers.end_bound() == RangeBound::kUnbounded) return range;
  range.end_family = family;
  range.end =
      qualifiers.end_bound() == RangeBound::kOpen ? qualifiers.end() : JustAfter(qualifiers.end());
  return range;
}

bool HasSink(const StageList& list) {
  return std::any_of(list.begin(), list.end(), [](const Stage& stage) {
    return stage.kind == StageKind::kSink || stage.has_sink;
  });
}

// The work that a list may do for one cell: the copies that leave the list, and the stages that the
// cell and its copies pass through.
struct Growth {
  uint64_t copies = 1;
  uint64_t steps = 1;
};

uint64_t Times(uint64_t a, uint64_t b) { return std::min(kManySteps, a * b); }

Growth GrowthIn(const StageList& list) {
  Growth all;
  for (const Stage& stage : list) {
    Growth here;
    if (!stage.branches.empty()) here.copies = 0;
    for (const StageList& branch : stage.branches) {
      const Growth growth = GrowthIn(branch);
      here.steps = std::min(kManySteps, here.steps + growth.steps);
      here.copies = std::min(kManySteps, stage.kind == StageKind::kCondition
                                             ? std::max(here.copies, growth.copies)
                                             : here.copies + growth.copies);
    }
    all.steps = std::min(kManySteps, all.steps + Times(all.copies, here.steps));
    all.copies = Times(all.copies, here.copies);
  }
  return all;
}

class Compiler {
 public:
  Compiler(const FamilyList& families, std::optional<uint64_t> sample_seed, int64_t regex_count)
      : families_(families), sample_seed_(sample_seed), regex_bytes_(kRegexMemoryBytesMax) {
    if (regex_count > kLargestRegexesAtOnce)
      regex_bytes_ = kRegexMemoryBytesMax * kLargestRegexesAtOnce / regex_count;
  }

  // Appends `node` to a list whose input is complete from pass `pass` on. Returns the first pass
  // from which the output is complete. Nested chains are flattened into one list. The
  // builders' limit of depth bounds the recursion (model/filter_node.h).
  absl::StatusOr<uint32_t> Add(const FilterNode& node, uint32_t pass, StageList* list) {
    switch (node.kind) {
      case FilterKind::kPassAll:
        return pass;
      case FilterKind::kChain:
        if (list->empty()) list->reserve(node.children.size());
        for (const Filter& child : node.children) {
          STELE_ASSIGN_OR_RETURN(pass, Add(Access::Node(child), pass, list));
        }
        return pass;
      case FilterKind::kInterleave:
        return AddInterleave(node, pass, list);
      case FilterKind::kCondition:
        return AddCondition(node, pass, list);
      default:
        STELE_RETURN_IF_ERROR(SetLeaf(node, &list->emplace_back()));
        return pass;
    }
  }

  std::vector<std::string> TakeLabels() { return std::move(labels_); }
  bool in_place() const { return in_place_; }
  bool has_row_regex() const { return has_row_regex_; }

 private:
  absl::StatusOr<uint32_t> AddInterleave(const FilterNode& node, uint32_t pass, StageList* list) {
    in_place_ = false;
    Stage stage{.kind = StageKind::kInterleave};
    stage.branches.resize(node.children.size());
    uint32_t last_pass = pass;
    for (size_t i = 0; i < node.children.size(); ++i) {
      STELE_ASSIGN_OR_RETURN(const uint32_t branch_pass,
                             Add(Access::Node(node.children[i]), pass, &stage.branches[i]));
      last_pass = std::max(last_pass, branch_pass);
      stage.has_sink |= HasSink(stage.branches[i]);
    }
    list->push_back(std::move(stage));
    return last_pass;
  }

  absl::StatusOr<uint32_t> AddCondition(const FilterNode& node, uint32_t pass, StageList* list) {
    in_place_ = false;
    Stage stage{.kind = StageKind::kCondition};
    stage.branches.resize(node.children.size());
    STELE_ASSIGN_OR_RETURN(stage.pass,
                           Add(Access::Node(node.children[0]), pass, &stage.branches[0]));
    if (stage.pass >= kPassesMax) {
      return InvalidArgument(
          "filter: {} conditions in a row depend on each other, at most {} are allowed",
          stage.pass + 1, kPassesMax);
    }
    uint32_t last_pass = stage.pass + 1;
    for (size_t i = 1; i < node.children.size(); ++i) {
      STELE_ASSIGN_OR_RETURN(const uint32_t branch_pass, Add(Access::Node(node.children[i]),
                                                             stage.pass + 1, &stage.branches[i]));
      last_pass = std::max(last_pass, branch_pass);
    }
    list->push_back(std::move(stage));
    return last_pass;
  }

  // Stages are large, so they are constructed in place.
  absl::Status SetLeaf(const FilterNode& node, Stage* stage) {
    switch (node.kind) {
      case FilterKind::kFamily:
      case FilterKind::kColumn:
      case FilterKind::kColumnRange:
        SetColumns(node, stage);
        return absl::OkStatus();
      case FilterKind::kTimestampRange:
        stage->kind = StageKind::kTimestamps;
        stage->start = node.timestamps.start.micros();
        if (node.timestamps.end.has_value()) stage->end = node.timestamps.end->micros();
        return absl::OkStatus();
      case FilterKind::kLatest:
        SetCount(StageKind::kLatest, node.count, stage);
        return absl::OkStatus();
      case FilterKind::kCellsRowLimit:
        SetCount(StageKind::kRowLimit, node.count, stage);
        return absl::OkStatus();
      case FilterKind::kCellsRowOffset:
        SetCount(StageKind::kRowOffset, node.count, stage);
        return absl::OkStatus();
      case FilterKind::kFamilyRegex:
        return SetFamilyRegex(node.text, stage);
      case FilterKind::kColumnRegex:
        return SetRegex(StageKind::kColumnRegex, "column regex", node.text, stage);
      case FilterKind::kValueRegex:
        return SetRegex(StageKind::kValueRegex, "value regex", node.text, stage);
      case FilterKind::kRowKeyRegex:
        has_row_regex_ = true;
        return SetRegex(StageKind::kRowRegex, "row key regex", node.text, stage);
      default:
        SetValueOrForm(node, stage);
        return absl::OkStatus();
    }
  }

  void SetValueOrForm(const FilterNode& node, Stage* stage) {
    StageTest test;
    switch (node.kind) {
      case FilterKind::kValueRange:
        test.range = node.range;
        return SetTest(StageKind::kValueRange, std::move(test), stage);
      case FilterKind::kValueBitmask:
        test.mask = node.text;
        return SetTest(StageKind::kValueMask, std::move(test), stage);
      case FilterKind::kRowSample:
        if (!sample_seed_.has_value()) sample_seed_ = RandomSeed();
        test.sample_seed = (*sample_seed_)++;
        test.sample_below = static_cast<uint64_t>(node.probability * 0x1p64);
        return SetTest(StageKind::kRowSample, std::move(test), stage);
      case FilterKind::kStripValue:
        stage->kind = StageKind::kStrip;
        return;
      case FilterKind::kLabel:
        labels_.push_back(node.text);
        stage->kind = StageKind::kLabel;
        stage->label = static_cast<uint16_t>(labels_.size());
        return;
      case FilterKind::kSink:
        in_place_ = false;
        stage->kind = StageKind::kSink;
        return;
      default:
        stage->kind = StageKind::kNothing;
        return;
    }
  }

  void SetColumns(const FilterNode& node, Stage* stage) const {
    const std::optional<uint32_t> family = families_.IndexOfName(node.text);
    if (!family.has_value()) return;  // matches nothing
    ColumnRange& columns = stage->columns;
    if (node.kind == FilterKind::kFamily) columns = ColumnRange::OfFamily(*family);
    if (node.kind == FilterKind::kColumn) {
      columns.family = columns.end_family = *family;
      columns.first = node.qualifier;
      columns.end = JustAfter(node.qualifier);
    }
    if (node.kind == FilterKind::kColumnRange) columns = ToColumnRange(*family, node.range);
    if (!columns.IsEmpty()) stage->kind = StageKind::kColumns;
  }

  // The table's families are known, so the regex is matched against them now.
  absl::Status SetFamilyRegex(const std::string& pattern, Stage* stage) const {
    STELE_ASSIGN_OR_RETURN(const Pattern family,
                           Pattern::Compile("family regex", pattern, regex_bytes_));
    StageTest test;
    test.families.resize(families_.size());
    uint32_t count = 0;
    uint32_t last = 0;
    for (uint32_t family_index = 1; family_index <= families_.size(); ++family_index) {
      if (!family.Matches(families_[family_index].name)) continue;
      test.families[family_index - 1] = true;
      ++count;
      last = family_index;
    }
    if (count == 0) return absl::OkStatus();  // matches nothing
    if (count == 1) {
      stage->kind = StageKind::kColumns;
      stage->columns = ColumnRange::OfFamily(last);
    } else {
      SetTest(StageKind::kFamilies, std::move(test), stage);
    }
    return absl::OkStatus();
  }

  absl::Status SetRegex(StageKind kind, std::string_view what, const std::string& pattern,
                        Stage* stage) const {
    StageTest test;
    STELE_ASSIGN_OR_RETURN(test.pattern, Pattern::Compile(what, pattern, regex_bytes_));
    SetTest(kind, std::move(test), stage);
    return absl::OkStatus();
  }

  static void SetTest(StageKind kind, StageTest test, Stage* stage) {
    stage->kind = kind;
    stage->test = std::make_shared<const StageTest>(std::move(test));
  }
  static void SetCount(StageKind kind, int count, Stage* stage) {
    if (count <= 0 && kind != StageKind::kRowOffset) return;  // matches nothing
    stage->kind = kind;
    stage->count_limit = static_cast<uint64_t>(std::max(count, 0));
  }

  const FamilyList& families_;
  std::optional<uint64_t> sample_seed_;
  int64_t regex_bytes_;
  std::vector<std::string> labels_;
  bool in_place_ = true;
  bool has_row_regex_ = false;
};

}  // namespace

CompiledFilter NewestCellStages(std::string_view family, std::string_view qualifier,
                                const FamilyList& families) {
  CompiledFilter compiled;
  compiled.stages.resize(2);
  if (const std::optional<uint32_t> family_index = families.IndexOfName(family);
      family_index.has_value()) {
    compiled.stages[0].kind = StageKind::kColumns;
    ColumnRange& columns = compiled.stages[0].columns;
    columns.family = columns.end_family = *family_index;
    columns.first = qualifier;
    columns.end = JustAfter(columns.first);
  }
  compiled.stages[1].kind = StageKind::kLatest;
  compiled.stages[1].count_limit = 1;
  return compiled;
}

absl::StatusOr<CompiledFilter> CompileStages(const Filter& filter, const FamilyList& families,
                                             std::optional<uint64_t> sample_seed) {
  CompiledFilter compiled;
  const FilterNode& node = Access::Node(filter);
  if (node.kind == FilterKind::kPassAll) return compiled;
  Compiler compiler(families, sample_seed, CountRegexes(node));
  STELE_ASSIGN_OR_RETURN(const uint32_t last_pass, compiler.Add(node, 0, &compiled.stages));
  compiled.pass_count = last_pass + 1;
  compiled.labels = compiler.TakeLabels();
  compiled.in_place = compiler.in_place();
  compiled.has_row_regex = compiler.has_row_regex();
  if (compiled.in_place) return compiled;
  compiled.step_count = GrowthIn(compiled.stages).steps;
  if (compiled.step_count > kStepsMax) {
    return InvalidArgument(
        "filter: its interleaves may need {}{} steps for a cell, at most {} are allowed; put "
        "filters that narrow a row before them, or nest fewer",
        compiled.step_count >= kManySteps ? "over " : "", compiled.step_count, kStepsMax);
  }
  return compiled;
}

}  // namespace stele::internal
