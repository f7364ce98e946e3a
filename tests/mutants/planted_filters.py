"""Planted bugs of filters: src/filter/, and the passes of src/read/. run.py imports this for what it adds to the list."""
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
    ("a limit of the row's cells counts what may pass behind it alone", "      reach->columns.FillUp();\n", ""),
    ("what a predicate looks at is not read",
     "      if (!any.IsNone()) Unite(&any, Before(stage.branches[0], Reach::All(), family_count));\n", ""),
    ("what comes to a sink is narrowed by what follows", "      *reach = Reach::All();\n", ""),
    ("branches of which one needs old versions count as of newest ones alone",
     "        if (all.has_value() && *all != one) return OldVersions::kNeeded;\n", ""),
    ("a range of timestamps with an end passes the newest version or none",
     "return stage.end.has_value() ? OldVersions::kNeeded : OldVersions::kOpen;", "return OldVersions::kOpen;"),
    ("rows of a sink have to pass what follows it", "      rows.sunk = EitherOf(rows.sunk, rows.passed);\n", ""),
)
plant(
    "filter", ["unit_filter"], "src/filter/pattern.cc",
    ("the greatest row that matches a regex is left out", "{least, greatest + '\\0', false}", "{least, greatest, false}"),
)
plant(
    "filter", STATS, "src/filter/reach.cc",
    ("regexes of qualifiers narrow nothing", "  if (wanted_count > kRangesMax) return;", "  return;"),
    ("an interleave may need older versions", "all = one;", "return OldVersions::kNeeded;"),
)
plant(
    "filter", ["unit_filter"], "src/filter/column_ranges.cc",
    ("ranges that touch swallow the second", "if (ranges_.empty() || EndOf(ranges_.back()) < StartOf(range)) {", "if (ranges_.empty()) {"),
    ("the longer of two ranges is done first", "if (EndOf(*range) < EndOf(*other)) {", "if (EndOf(*other) < EndOf(*range)) {"),
)
plant(
    "filter", ["unit_filter"], "src/filter/run_stages.cc",
    ("a pass goes on with the counts of the one before", "    stage.count = 0;\n    stage.column = 0;\n", ""),
    ("a row begins with the decisions of the one before", "  if (pass_count_ > 1) ForgetDecisions(&stages_);\n", ""),
    ("what ended in front of a sink ends the row", "    if (stage.kind == StageKind::kSink || stage.has_sink) return false;\n", ""),
    ("a limit on versions counts on in the next column", "stage->kind == StageKind::kLatest && stage->column != column_", "false"),
    ("an interleave gives what its last filter gives",
     "cells->insert(cells->end(), scratch.branch.begin(), scratch.branch.end());", "*cells = scratch.branch;"),
    ("a sink lets its cells on", "      cells->clear();\n      return;\n", "      return;\n"),
)
plant(
    "filter", ["unit_filter"], "src/filter/compile.cc",
    ("a branch does not wait for its condition", "Add(node.children[i].node(), stage.pass + 1, &stage.branches[i])",
     "Add(node.children[i].node(), pass, &stage.branches[i])"),
    ("an interleave waits for its first filter alone", "    last_pass = std::max(last_pass, branch_pass);\n      stage.has_sink",
     "    if (i == 0) last_pass = branch_pass;\n      stage.has_sink"),
    ("samples in one filter draw the same", "test.sample_seed = (*sample_seed_)++;", "test.sample_seed = *sample_seed_;"),
    ("regexes have 4 MiB each, however many", "if (regex_count > kLargestRegexesAtOnce) regex_bytes_ =", "if (false) regex_bytes_ ="),
    ("copies of copies are counted once", "all.copies = Times(all.copies, here.copies);", "all.copies = here.copies;"),
)
plant(
    "filter", ["unit_filter"], "src/filter/stage.cc",
    ("a value may be longer than the mask", "if (value.size() != mask.size()) return false;", "if (value.size() < mask.size()) return false;"),
    ("a value needs one bit of the mask", "& bits) != bits) return false;", "& bits) == 0) return false;"),
    ("a row whose cells are sunk has to match what follows", "    if (stage.kind == StageKind::kSink) return true;\n", ""),
)
plant(
    "filter", PASSES, "src/read/pass_reader.cc",
    ("backwards the row before is found", "direction_ == Direction::kForward ? row_key_ : row_key_ + '\\0'", "row_key_"),
    ("a row is not read again", "  if (has_all_) return true;\n", "  return true;\n"),
    ("what is read again is counted again", "cells_seen_ = std::max(cells_seen_, read_count_);", "cells_seen_ += input_.size() - begin;"),
    ("deciding is not interrupted",
     "  if (absl::Status status = interruption_->Check(); !status.ok()) return Fail(std::move(status));\n", ""),
)
plant(
    "filter", PASSES, "src/cell/held_cells.cc",
    ("copies of a value are held each", "return a.data() == b.data() && a.size() == b.size();", "return a.size() == b.size() && a.empty();"),
)
plant(
    "filter", ["unit_db --gtest_filter=FilterCasesTest.*"], "src/read/row_stream.cc",
    ("labels are not shown", "program.has_labels() ? shown_ : end;", "end;"),
)
plant(
    "filter", STATS, "src/read/row_stream.cc",
    ("rows that a regex rules out are read", "if (options_.program.rows() != KeyRange::All()) {", "if (false) {"),
)
SOLE_COLUMN = ["unit_merge --gtest_filter=SoleColumnTest.*"]
plant(
    "merge", SOLE_COLUMN, "src/merge/sole_column.cc",
    ("a version that may be hidden settles a column (rule 13)", "cell.kind == CellKind::kSet && !may_hide_", "cell.kind == CellKind::kSet"),
    ("what was not come to hides nothing", "may_hide_ |= hides || !is_passed;", "may_hide_ |= hides;"),
    ("an older source's newer version is not looked for (rule 13)", "newest_ >= older_greatest", "true"),
    ("a range from a timestamp on deletes the column", "cell.range_start <= 0 && ", ""),
    ("the newest version stands for all", "column.newest_alone && newest_ != ", "newest_ != "),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/row_sources.cc",
    ("the oldest source's timestamps count for none", "greatest = std::max(greatest, GreatestTimestamp(files_[files_.size() - 1 - i].reader->summary(), family_id));", ";"),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/file_row_cursor.cc",
    ("cells that are not skipped go", "cells->erase(first, std::partition_point(first, cells->end(), is_skipped));", "cells->erase(first, cells->end());"),
    ("a row sought again is not read again", "    is_cursor_placed_ = false;\n", "    if (cursor_ != nullptr) place_ = Place::kInCursor;\n"),
)
plant(
    "filter", ["unit_filter --gtest_filter=PatternTest.*"], "src/filter/pattern.cc",
    ("an escape that RE2 refuses is taken", "IsPunctuation(byte) && byte != '_'", "IsPunctuation(byte)"),
    ("a point matches a newline", "rest_ = regex == kAny ? Rest::kAny : Rest::kAnyButNewline;", "rest_ = Rest::kAny;"),
    ("texts are searched unsorted", "  std::sort(texts_.begin(), texts_.end());\n", ""),
)
plant(
    "filter", ["unit_filter", "unit_db --gtest_filter=ReadStatsTest.*"], "src/filter/reach.cc",
    ("of several texts the first alone is looked for", "for (const KeyRange& range : ranges) matching.push_back(InFamily(family, range.start, range));",
     "matching.push_back(InFamily(family, ranges.front().start, ranges.front()));"),
    ("several texts make one range", "wanted_count * ranges.size() <= kRangesMax", "false"),
)
