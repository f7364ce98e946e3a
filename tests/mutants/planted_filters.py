"""Planted bugs of filters: src/filter/, and the passes of src/read/. run.py imports this module,
which extends the list.
"""
from planted import SKIPPING, plant

PASSES = ["unit_read --gtest_filter=FilterPassesTest.*"]
STATS = ["unit_db --gtest_filter=ReadStatsTest.*"]

plant(
    "skipping", SKIPPING, "src/filter/reach.cc",
    ("a limit on versions does not count newer ones", "if (!reach->IsNone()) reach->versions.greatest = TimestampSpan().greatest;", ""),
    ("a limit on the row's cells does not count older ones", "      reach->columns.FillUp();\n      reach->versions = {};\n",
     "      reach->columns.FillUp();\n"),
)
plant(
    "filter", ["unit_filter"], "src/filter/reach.cc",
    ("a limit on the row's cells counts only cells that a later filter may pass", "      reach->columns.FillUp();\n", ""),
    ("cells that only a predicate needs are not read",
     "      if (!any.IsNone()) Unite(&any, Before(stage.branches[0], Reach::All(), family_count));\n", ""),
    ("cells for a sink are narrowed by later filters", "      *reach = Reach::All();\n", ""),
    ("branches count as newest-only although one needs old versions",
     "        if (all.has_value() && *all != one) return OldVersions::kNeeded;\n", ""),
    ("a timestamp range with an end passes the newest version or none",
     "return stage.end.has_value() ? OldVersions::kNeeded : OldVersions::kOpen;", "return OldVersions::kOpen;"),
    ("rows of a sink must pass later filters", "      rows.sunk = EitherOf(rows.sunk, rows.passed);\n", ""),
)
plant(
    "filter", ["unit_filter"], "src/filter/pattern.cc",
    ("the greatest row that matches a regex is omitted", "{least, greatest + '\\0', false}", "{least, greatest, false}"),
)
plant(
    "filter", STATS, "src/filter/reach.cc",
    ("qualifier regexes narrow nothing", "  if (wanted_count > kRangesMax) return;", "  return;"),
    ("an interleave always counts as needing older versions", "all = one;", "return OldVersions::kNeeded;"),
)
plant(
    "filter", ["unit_filter"], "src/filter/column_ranges.cc",
    ("of two adjacent ranges the second is lost", "if (ranges_.empty() || EndOf(ranges_.back()) < StartOf(range)) {", "if (ranges_.empty()) {"),
    ("the longer of two ranges ends first", "if (EndOf(*range) < EndOf(*other)) {", "if (EndOf(*other) < EndOf(*range)) {"),
)
plant(
    "filter", ["unit_filter"], "src/filter/run_stages.cc",
    ("a pass continues with the counts of the previous pass", "    stage.count = 0;\n    stage.column = 0;\n", ""),
    ("a row starts with the decisions of the previous row", "  if (pass_count_ > 1) ForgetDecisions(&stages_);\n", ""),
    ("a row ends when a filter before a sink ends", "    if (stage.kind == StageKind::kSink || stage.has_sink) return false;\n", ""),
    ("a limit on versions continues in the next column", "stage->kind == StageKind::kLatest && stage->column != column_", "false"),
    ("an interleave returns only its last filter's result",
     "cells->insert(cells->end(), scratch.branch.begin(), scratch.branch.end());", "*cells = scratch.branch;"),
    ("a sink passes its cells on", "      cells->clear();\n      return;\n", "      return;\n"),
)
plant(
    "filter", ["unit_filter"], "src/filter/compile.cc",
    ("a branch does not wait for its condition", "Add(Access::Node(node.children[i]), stage.pass + 1, &stage.branches[i])",
     "Add(Access::Node(node.children[i]), pass, &stage.branches[i])"),
    ("an interleave waits only for its first filter", "    last_pass = std::max(last_pass, branch_pass);\n      stage.has_sink",
     "    if (i == 0) last_pass = branch_pass;\n      stage.has_sink"),
    ("all samples in one filter use the same random number", "test.sample_seed = (*sample_seed_)++;", "test.sample_seed = *sample_seed_;"),
    ("each regex gets 4 MiB, however many there are", "if (regex_count > kLargestRegexesAtOnce) regex_bytes_ =", "if (false) regex_bytes_ ="),
    ("copies of copies count once", "all.copies = Times(all.copies, here.copies);", "all.copies = here.copies;"),
)
plant(
    "filter", ["unit_filter"], "src/filter/stage.cc",
    ("a value may be longer than the mask", "if (value.size() != mask.size()) return false;", "if (value.size() < mask.size()) return false;"),
    ("a value needs only one bit of the mask", "& bits) != bits) return false;", "& bits) == 0) return false;"),
    ("a row whose cells went to a sink must match later filters", "    if (stage.kind == StageKind::kSink) return true;\n", ""),
)
plant(
    "filter", PASSES, "src/read/pass_reader.cc",
    ("a reverse read finds the previous row", "direction_ == Direction::kForward ? row_key_ : row_key_ + '\\0'", "row_key_"),
    ("a row is not read again", "  if (has_all_) return true;\n", "  return true;\n"),
    ("cells that are read again are counted again", "cells_seen_ = std::max(cells_seen_, read_count_);", "cells_seen_ += input_.size() - begin;"),
    ("the evaluation of conditions is not interrupted",
     "  if (absl::Status status = interruption_->Check(); !status.ok()) return Fail(std::move(status));\n", ""),
)
plant(
    "filter", PASSES, "src/cell/held_cells.cc",
    ("each copy of a value is pinned separately", "return a.data() == b.data() && a.size() == b.size();", "return a.size() == b.size() && a.empty();"),
)
plant(
    "filter", ["unit_db --gtest_filter=FilterCasesTest.*"], "src/read/row_assembler.h",
    ("labels are not returned", "if (!program.has_labels()) {", "if (true) {"),
)
plant(
    "filter", STATS, "src/read/row_stream.cc",
    ("rows that a regex excludes are read", "if (options->program.rows() != KeyRange::All()) {", "if (false) {"),
)
SOLE_COLUMN = ["unit_merge --gtest_filter=SoleColumnTest.*"]
plant(
    "merge", SOLE_COLUMN, "src/merge/sole_column.cc",
    ("a version that may be hidden completes a column (engine rule 13)", "cell.kind == CellKind::kSet && !may_hide_", "cell.kind == CellKind::kSet"),
    ("cells that a source did not reach hide nothing", "may_hide_ |= hides || !is_passed;", "may_hide_ |= hides;"),
    ("an older source's newer version is not read (engine rule 13)", "newest_ >= older_greatest", "true"),
    ("a range from a timestamp on deletes the whole column", "cell.range_start <= 0 && ", ""),
    ("the newest version replaces all versions", "column.latest_only && newest_ != ", "newest_ != "),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/source_chain.cc",
    ("the oldest source's timestamps are ignored", "greatest = std::max(greatest, GreatestTimestamp(files_[files_.size() - 1 - i].reader->summary(), family_id));", ";"),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/row_cursors.cc",
    ("cells that are not skipped are lost", "cells->erase(first, std::partition_point(first, cells->end(), is_skipped));", "cells->erase(first, cells->end());"),
    ("a second seek to a row does not read it again", "    is_cursor_placed_ = false;\n", "    if (cursor_ != nullptr) place_ = Place::kInCursor;\n"),
)
plant(
    "filter", ["unit_filter --gtest_filter=PatternTest.*"], "src/filter/pattern.cc",
    ("an escape that RE2 rejects is accepted", "IsPunctuation(byte) && byte != '_'", "IsPunctuation(byte)"),
    ("\".\" matches a newline", "rest_ = regex == kAny ? Rest::kAny : Rest::kAnyButNewline;", "rest_ = Rest::kAny;"),
    ("texts are searched unsorted", "  std::sort(texts_.begin(), texts_.end());\n", ""),
)
plant(
    "filter", ["unit_filter", "unit_db --gtest_filter=ReadStatsTest.*"], "src/filter/reach.cc",
    ("only the first of several texts is searched", "for (const KeyRange& range : ranges) matching.push_back(InFamily(family, range.start, range));",
     "matching.push_back(InFamily(family, ranges.front().start, ranges.front()));"),
    ("several texts become one range", "wanted_count * ranges.size() <= kRangesMax", "false"),
)
