"""The bugs that run.py plants: small textual changes of src/. Each lists test programs, at least
one of which must fail.

A mutant is a mistake that a developer could make. A change without an effect on any API (an
additional copy, a page pinned for too long) is not a mutant.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str  # "group.number"
    what: str
    file: str
    old: str  # occurs once in the file
    new: str
    killers: tuple  # programs with their arguments

    @property
    def group(self):
        return self.name.split(".")[0]


MUTANTS = []


def plant(group, killers, file, *changes):
    """`changes` are (what, old, new)."""
    number = sum(mutant.group == group for mutant in MUTANTS)
    for what, old, new in changes:
        number += 1
        MUTANTS.append(Mutant(f"{group}.{number}", what, file, old, new, tuple(killers)))


plant(
    "flush", ["unit_jobs"], "src/jobs/flush_job.cc",
    ("partial ordinals are evaluated at the present time, not at the newest commit (engine rule 9)", "policy.newest_commit_time = OrdinalTime(input.newest_commit_time, input.now);",
     "policy.newest_commit_time = input.now;"),
    ("tombstones are dropped although older sources exist (engine rule 11)", "policy.drop_tombstones = input.reaches_end;",
     "policy.drop_tombstones = true;"),
    ("commits after the flush's sequence are written too", "NewCursor(input.sequence, options)", "NewCursor(UINT64_MAX, options)"),
    ("ordinals in one memtable are used as true ordinals", "policy.partial = true;", "policy.partial = false;"),
    ("the file states a wrong commit time", "OrdinalTime(input.newest_commit_time, input.now), false}",
     "input.now, false}"),
)

plant(
    "compaction", ["unit_jobs"], "src/jobs/compaction_job.cc",
    ("the commit time of the oldest input is used", "std::max(newest_commit_time, OrdinalTime(reference.file->newest_commit_time, now))",
     "OrdinalTime(reference.file->newest_commit_time, now)"),
    ("a file over several tablets states the newest commit of any of them (engine rule 9)", "std::min(newest_commit_time, NewestCommitTime(subcompaction, input.now))",
     "NewestCommitTime(subcompaction, input.now)"),
    ("tombstones are dropped although older sources exist (engine rule 11)", "policy.drop_tombstones = subcompaction.reaches_end;",
     "policy.drop_tombstones = true;"),
    ("rows outside a narrowed file reference are read", "if (rows.Covers(RowsOf(*subcompaction.inputs[index].file))) return cursor;", "if (true) return cursor;"),
    ("rows outside the job's range are read", "Intersect(reference.range, subcompaction.range)", "reference.range"),
    ("ordinals in the inputs are used as true ordinals", "policy.partial = true;", "policy.partial = false;"),
    ("the output is never marked as recompressed", "newest_commit_time, bottommost_codec}", "newest_commit_time, false}"),
    ("one subcompaction with the oldest sorted run marks the whole output as recompressed", "bottommost_codec = bottommost_codec && subcompaction.reaches_end;", "bottommost_codec = subcompaction.reaches_end;"),
    ("only the first subcompaction is written", "while (next_subcompaction < input.subcompactions.size()) {", "while (next_subcompaction < 1) {"),
)
plant(
    "compaction", ["unit_jobs"], "src/jobs/sstable_writer.cc",
    ("a stop request is ignored", "if (target_.job.stop == nullptr || !target_.job.stop->load(std::memory_order_relaxed))", "if (true)"),
    ("the file is referenced before it is synced (engine rule 22)", "STELE_RETURN_IF_ERROR(file_->Sync());", ""),
    ("the file's directory entry is not synced (engine rule 22)", "STELE_RETURN_IF_ERROR(target_.job.file_system->SyncDirectory(target_.job.directory));", ""),
    ("an unfinished file is not deleted", "target_.job.file_system->Remove(Path()).IgnoreError();", ""),
)

plant(
    "picker", ["unit_compaction"], "src/compaction/picker.cc",
    ("busy tablets are picked", "if (!tablets_[i].is_free) continue;", ""),
    ("busy adjacent tablets are included", "neighbour.is_free && !neighbour.is_alone", "!neighbour.is_alone"),
    ("tablets that met damage together are picked together again", "neighbour.is_free && !neighbour.is_alone", "neighbour.is_free"),
    ("adjacent tablets are included that need no merge", "inputs->sources > 1 && joins", "joins"),
    ("a merge of all sorted runs keeps its tombstones", "if (kind == CompactionKind::kMerge && whole) pick.kind = CompactionKind::kMajor;", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/stack_shape.cc",
    ("references of one interval are separated", "while (!clusters.empty() && cluster.sequence_last >= clusters.back().sequence_first) {",
     "while (false) {"),
    ("an overlap cluster counts as one source, however many of its files a read meets", "cluster.sources = CountSources(std::move(ranges));", ""),
    ("files without common rows count as several sources", "while (!open.empty() && open.top()->EndsBefore(range->start)) open.pop();", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/file_shares.cc",
    ("a shared file counts in full for each tablet", "return file_bytes / file.reached_tablets / ReferencesInTablet(reference, file);",
     "return file_bytes / ReferencesInTablet(reference, file);"),
    ("several references of one tablet to a file count as one part each", "return file_bytes / file.reached_tablets / ReferencesInTablet(reference, file);",
     "return file_bytes / file.reached_tablets;"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/reclaim_policy.cc",
    ("files are dropped whose tombstones still hide cells (engine rule 11)", "LiveTombstones(*stack[i].file, definition) > 0 &&", "false &&"),
    ("garbage bytes are not reclaimed", "constexpr double kDeadShareMin = 0.25;", "constexpr double kDeadShareMin = 0.9;"),
    ("an idle tablet is treated like one in use", "constexpr double kDeadShareMinIdle = 1.0 / 7;", "constexpr double kDeadShareMinIdle = 0.25;"),
    ("no sample is taken", "if (is_worth_a_sample && query.measure_dead) {", "if (false) {"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/merge_policy.cc",
    ("a large old file is rewritten for small new ones", "constexpr double kAlikeRatio = 3;", "constexpr double kAlikeRatio = 100;"),
    ("a merge waits for one more file", "if (tier.sources < kFanInMin) continue;", "if (tier.sources <= kFanInMin) continue;"),
    ("reads are charged for one source too many", "static_cast<double>(inputs.sources - 1) * kSourceReadNanos",
     "static_cast<double>(run.sources) * kSourceReadNanos"),
    ("a merge is picked before enough reads justify it", "kMergeNanosPerJob + kMergeNanosPerByte * static_cast<double>(inputs.bytes);", "kMergeNanosPerJob;"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/file_policy.cc",
    ("files with common rows are joined by a metadata merge", "if (after != spans_.begin() && range.Overlaps(*std::prev(after)->second)) return false;", ""),
    ("joined files are joined again", "if (end - begin > 1 || !HasOneInterval(tablet, clusters[begin]))", "if (true)"),
    ("small-file compaction rewrites a large file next to small ones", "if (largest_bytes * kSmallFileGrowthMin <= inputs.bytes) return inputs;", "return inputs;"),
    ("small-file compaction picks files out of row order", "|| !HasOneInterval(tablet, cluster) || !IsInRowOrder(tablet, cluster)) return std::nullopt;",
     ") return std::nullopt;"),
    ("recompressed files are recompressed again", "if (tablet.stack[i].file->bottommost_codec || !IsCold(tablet.stack[i], cold_before)) {",
     "if (!IsCold(tablet.stack[i], cold_before)) {"),
    ("hot files are recompressed", "if (tablet.stack[i].file->bottommost_codec || !IsCold(tablet.stack[i], cold_before)) {",
     "if (tablet.stack[i].file->bottommost_codec) {"),
    ("a tablet counts as cold while it is written", "if (!IsCold(reference, cold_before)) return std::nullopt;", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/neighbours.cc",
    ("a reference with commits inside and outside of the range is included (engine rule 1)",
     "begin->sequence_last > sequence_last || std::prev(end)->sequence_first < sequence_first", "false"),
    ("a job exceeds the bound for adjacent tablets", "|| bytes + inputs->bytes > bytes_max", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/dead_share.cc",
    ("row tombstones do not count", "uint64_t count = file.summary.row_tombstones;", "uint64_t count = 0;"),
    ("tombstones of dropped families count", "if (FindRetention(definition, family.family_id) != nullptr) count", "count"),
    ("the bytes of dropped families do not count as garbage", "dropped_logical_bytes += logical_bytes;", ""),
    ("versions hide nothing", "if (may_replace) hidden +=", "if (false) hidden +="),
    ("row tombstones hide nothing", "double hidden = share * static_cast<double>(file.summary.row_tombstones) *", "double hidden = 0 *"),
)
plant(
    "fulldisk", ["unit_db --gtest_filter=FullDisk*"], "src/state/write_gate.cc",
    ("missing descriptors give the reserve up", "if (!LacksSpace(refusal) || !frees_space", "if (!absl::IsResourceExhausted(refusal) || !frees_space"),
)
plant(
    "fulldisk", ["unit_db --gtest_filter=FullDisk*"], "src/db/open.cc",
    ("writes are not refused after an Open without space", "storage.gate.NoteFullDisk(started);", ""),
    ("edits follow a close that states no end of the manifest", "if (tail.clean && tail.closed_manifest_end == SyncedManifestEnd()) return started;", ""),
)
plant(
    "fulldisk", ["unit_io"], "src/io/posix_file_system.cc",
    ("a limit of file sizes ends the process", "    IgnoreFileSizeSignal();", ""),
)
RECLAIM = ["unit_db --gtest_filter=ReclaimTest*"]
plant(
    "reclaim", RECLAIM, "src/jobs/dead_sample.cc",
    ("a sample does not apply the GC rules", "policy_.rules = table.definition().retentions;", ""),
)
plant(
    "reclaim", RECLAIM, "src/jobs/job_scheduler.cc",
    ("an idle memtable is not flushed", "if ((!pick || pick->recurring_last) && FreezeIdleMemtables(*pick_state) && !pick) return pick;", ""),
)

plant(
    "mutation", ["unit_mutation"], "src/mutation/check.cc",
    ("an empty range of a delete is accepted", "if (range.end != range.start) return absl::OkStatus();", "if (true) return absl::OkStatus();"),
    ("server time is not rounded down to the granularity", "now - now % 1'000", "now"),
    ("a range deletes one microsecond too many", "*op.range_end - 1 :", "*op.range_end :"),
    ("the last allowed change is rejected", "mutation.count() <= limits.mutations", "mutation.count() < limits.mutations"),
    ("a clock before 1970 writes negative timestamps", "std::max<int64_t>(now_micros, 0)", "now_micros"),
    ("a column gets a GC fence for each delete", "columns.erase(std::unique(columns.begin(), columns.end()), columns.end());", ""),
    ("deletes of whole columns get a GC fence", "|| op.range_start == 0) continue;", ") continue;"),
    ("the row key does not count toward the size", "uint64_t bytes = row_key.size();", "uint64_t bytes = 0 * row_key.size();"),
)
plant(
    "mutation", ["unit_mutation"], "src/mutation/batch.cc",
    ("the count of operations continues from the previous row", "row_op_count_ = 0;", ""),
    ("bytes after the last row are accepted", "ok_ = rest_.empty();", ""),
    ("an empty row key is accepted", "!row_key.empty() &&", ""),
    ("a row key of any size is accepted", "row_key.size() <= kBatchKeyBytesMax &&", ""),
)
plant(
    "mutation", ["unit_mutation"], "src/mutation/batch_inline.h",
    ("an unknown kind is accepted", "|| !IsCellKind(kind)) return false;", ") return false;"),
    ("a negative timestamp is accepted", "if (op->timestamp < 0) return false;", ""),
    ("a range that ends before it starts is accepted", "&& op->range_start <= op->timestamp;", ";"),
    ("bytes after a row's last operation are accepted", "return reader.AtEnd();", "return true;"),
)

plant(
    "merge", ["unit_merge"], "src/merge/row_merge.cc",
    ("a newer range tombstone does not hide", "const bool is_covered = newer.Covers(timestamp);", "const bool is_covered = false;"),
    ("cells hidden by a row tombstone reappear", "row_is_deleted_ = true;\n    source_count_ = i + 1;", "row_is_deleted_ = true;"),
    ("a family tombstone hides newer sources too", "[=](uint32_t index) { return index < deleting; }",
     "[=](uint32_t index) { return index > deleting; }"),
    ("a tombstone covered by another one is returned", "IsCovered(*widest) || output_active_.Covers(widest->range_start)",
     "IsCovered(*widest)"),
    ("the narrowest of equal tombstones wins", "cell.range_start < widest->range_start", "cell.range_start > widest->range_start"),
    ("skipping columns goes one column too far", "std::string(column_.qualifier) + '\\0'", "std::string(column_.qualifier) + '\\1'"),
    ("of equal cells of a whole row both are returned", """      } else if (order == 0) {
        ++source.next;
        is_any_drained |= source.drained();
      }""", "      }"),
    ("a row with tombstones is merged as plain cells", "return cell.kind == CellKind::kSet && cell", "return cell"),
    ("a whole row is merged before its sources returned all of it", "    if (!source.cursor->IsRowDone()) return false;\n", ""),
    ("an open column ends with a source's last cell", "if (!source.ended || column_is_open_) group_[kept++] = index;",
     "if (!source.ended) group_[kept++] = index;"),
)
plant(
    "merge", ["unit_merge"], "src/merge/merge_cursor.cc",
    ("a failed source is treated as ended",
     "if (absl::Status status = source.status(); !status.ok()) return Fail(std::move(status));", ""),
)
plant(
    "merge", ["unit_merge"], "src/merge/row_order.h",
    ("the older of two sources wins", "result < 0 : a < b;", "result < 0 : a > b;"),
    ("reverse order is forward order", "is_reverse_ ? ~head : head", "head"),
    ("the bound's own row counts as part of the range", "places_[bound_]) < 0) return true;", "places_[bound_]) <= 0) return true;"),
    ("a bound is kept for another source", "has_bound_ &= winner == winner_;", ""),
    ("tree nodes are not updated when the common prefix becomes shorter", "ShortenPrefix(row_key);\n      SetHeads();", "ShortenPrefix(row_key);"),
    ("every row costs a walk up the tree", "if (winner_ == stepped && !has_bound_) FindBound();", ""),
)
plant(
    "merge", ["unit_merge"], "src/merge/run_cursor.cc",
    ("a sorted run ends with the part it started in", "return status_.ok() && EnterFrom(is_reverse_ ? part_ - 1 : part_ + 1);", "return false;"),
    ("a seek does not continue after its part", "return on_row_ || (status_.ok() && EnterFrom(is_reverse_ ? part - 1 : part + 1));",
     "return on_row_;"),
    ("a failed part is treated as ended", "if (on_row_ || !status_.ok()) return on_row_;", "if (on_row_) return true;"),
    ("two parts are open at once", "  is_open_ = false;\n  cursor_.reset();\n", "  is_open_ = false;\n"),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/runs.cc",
    ("an older file is in the same sorted run as one that it overlaps", "size_t depth = runs.size();", "size_t depth = std::min<size_t>(runs.size(), 1);"),
    ("every file is a sorted run", "!range.EndsBefore(newest_first[*place]->start)) break;", "true) break;"),
)
plant(
    "merge", ["unit_read"], "src/merge/run_cursor.cc",
    ("a sorted run has no history (engine rule 13)", "return Checked(cursor_->ReadHistory(family, qualifier, cells));",
     "return family == 0 && qualifier.empty() && cells->empty();"),
)
plant(
    "merge", ["unit_merge"], "src/merge/version_counter.h",
    ("a row starts with the column of the previous row", "    family_ = kRowFamily;\n    qualifier_ = {};", ""),
    ("partial ordinals are evaluated at the present time (engine rule 9)", "timestamp, policy_.newest_commit_time)", "timestamp, policy_.now)"),
    ("ordinals continue from the previous column", "ordinal_ = 0;\n      garbage_count_ = 0;", "garbage_count_ = 0;"),
)
plant(
    "merge", ["unit_merge"], "src/merge/retention_cursor.cc",
    ("a row of several sources is kept if the first source is", "return source < policy_.kept_sources.size() && policy_.kept_sources[source];",
     "return policy_.kept_sources[source < policy_.kept_sources.size() ? source : 0];"),
    ("range tombstones are skipped with garbage versions", "|| !policy_.drop_tombstones) return;", ") return;"),
)

plant(
    "gc", ["unit_gc"], "src/gc/retention.cc",
    ("a union uses the greater count", "std::min(result.limits.version_count", "std::max(result.limits.version_count"),
    ("a union uses the greater age", "std::min(result.limits.age_micros", "std::max(result.limits.age_micros"),
    ("an intersection uses the smaller count", "std::max(limits.version_count", "std::min(limits.version_count"),
    ("an intersection ignores a rule that keeps everything", "if (flat.form == Form::kKeep) return {};",
     "if (flat.form == Form::kKeep) continue;"),
    ("one version too many is garbage, in a tree of rules", "return ordinal > VersionLimit(node);", "return ordinal >= VersionLimit(node);"),
    ("an unlimited age makes versions garbage", "std::numeric_limits<int64_t>::max() - 1)", "std::numeric_limits<int64_t>::max())"),
    ("a tree of rules is evaluated by its parts", "if (is_tree) return {Form::kTree, {}};", ""),
)
plant(
    "gc", ["unit_gc"], "src/gc/retention.h",
    ("a version exactly at the age limit is garbage", "return timestamp < oldest_kept;", "return timestamp <= oldest_kept;"),
    ("one limit of an intersection is enough", "ordinal > limits_.version_count && OlderThan", "ordinal > limits_.version_count || OlderThan"),
    ("one version too many is garbage", "ordinal > limits_.version_count || OlderThan", "ordinal >= limits_.version_count || OlderThan"),
)

plant(
    "read", ["unit_read"], "src/read/row_stream.cc",
    ("a read returns one row above the limit", "stats_.rows_returned >= static_cast<uint64_t>(options_.limit)", "stats_.rows_returned > static_cast<uint64_t>(options_.limit)"),
    ("a row that is rejected by its key is not counted", "    ++stats_.rows_seen;  // to", "    // to"),
    ("a row without passed cells ends the read", "    if (!assembler_.status().ok()) return Fail(assembler_.status());\n    progress_", "    return Fail(assembler_.status());\n    progress_"),
)
plant(
    "read", ["unit_read"], "src/read/scan_cursor.cc",
    ("reverse reads use the ranges in forward order", "if (is_reverse()) std::reverse(ranges_.begin(), ranges_.end());", ""),
    ("a reverse read omits a range's first row", "row_key() >= range.start", "row_key() > range.start"),
    ("a cursor tree for one row is used for a range", "!single && !chain_.is_for_one_row &&", "!single &&"),
    ("a cursor tree is used for another tablet", "&& chain_.tablet_index == tablet_index) return true;", ") return true;"),
    ("a failed source is treated as ended", "if (!on_row && !cursor->status().ok()) {", "if (false) {"),
)
plant(
    "read", ["unit_read"], "src/read/row_assembler.cc",
    ("Exists needs a second cell", " || (options_.first_cell_only && end_ > begin_)", ""),
    ("a failure inside a row is treated as its end", "if (!cursor_->status().ok()) Fail(cursor_->status());", ""),
    ("returned cells are returned again", "  begin_ = 0;\n  return CopyCells();", "  return CopyCells();"),
    ("a long row is read to its end although it was interrupted", "if (++batches_ % kBatchesPerCheck == 0 && Interrupted()) return false;", ""),
)
plant(
    "read", ["unit_read"], "src/read/row_assembler.h",
    ("every partial row is marked as the last", "return end_ < cells_.size();", "return false;"),
)
plant(
    "read", ["unit_read"], "src/read/interruption.h",
    ("a stop token is ignored", "stop.stop_requested()", "false"),
    ("a deadline is checked only once", "checks++ % kChecksPerClock == 0", "checks++ == 0"),
    ("closing is not noticed", "closed->load(std::memory_order_acquire)", "false"),
)
plant(
    "read", ["unit_db"], "src/read/row_lookup.cc",
    ("a point read returns the next row", "if (chain_->row_key() != row_key_) return false;", ""),
    ("a point read is not interrupted", "STELE_RETURN_IF_ERROR(lookup->interruption.Check());", ""),
    ("a result may be of any size", "assembler_.has_more() || lookup_.result_bytes > kResultBytesMax", "false"),
    ("a point read sees later commits", "options_.sequence = lookup->sequence;", "options_.sequence = UINT64_MAX;"),
)
plant(
    "read", ["unit_read"], "src/read/chain_options.cc",
    ("garbage versions are returned", "if (apply_gc) options.retention->rules", "if (false) options.retention->rules"),
)
plant(
    "read", ["unit_read"], "src/read/source_chain.cc",
    ("tombstones of a memtable's rows are returned", "  if (counts.row_tombstones != 0 || counts.other_tombstones != 0) return false;\n", ""),
    ("old versions of a memtable's rows are returned", "options.latest_only ? 1 : std::numeric_limits<uint64_t>::max();", "1;"),
    ("tombstones of a file's rows are returned", "  if (summary.tombstones != 0) return false;\n", ""),
    ("only the first file of a run decides whether its versions are counted", "options.retention && std::all_of(run.begin(), run.end(),",
     "options.retention && std::all_of(run.begin(), run.begin() + 1,"),
)
plant(
    "read", ["unit_read"], "src/read/source_chain.cc",
    ("a file's last row is not found", "row_key > summary.last_row", "row_key >= summary.last_row"),
    ("rows outside a narrowed file reference are returned", "if (!reference.narrowed) return cursor;", "if (true) return cursor;"),
    ("a memtable's rows are returned in every tablet", "    if (table.tablets.size() > 1) {", "    if (false) {"),
)
plant(
    "read", ["unit_read"], "src/read/source_chain.cc",
    ("a dropped row is found by its key", "if (reference.narrowed && !reference.reference.range.Contains(row_key)) return false;", ""),
    ("commits after the read point are returned", "memtable->NewCursor(options.sequence,", "memtable->NewCursor(UINT64_MAX,"),
)
plant(
    "read", ["unit_read"], "src/read/chain_options.cc",
    ("families outside the projection are read", "if (family_index != kSkippedFamily && !wanted[family_index - 1]) family_index = kSkippedFamily;", ""),
)

plant(
    "sstable", ["unit_sstable"], "src/sstable/read/section_cursor.cc",
    ("a row's pages are used for the next row range", "if (row_ >= stripe_begin_ && row_ < stripe_end_) return true;",
     "if (stripe_end_ != 0) return true;"),
    ("the loaded part of a row group is forgotten during a row", "group_index_ == group_index ? group_ : nullptr", "nullptr"),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/read/row_group_loader.cc",
    ("bytes between extents are prefetched too",
     "if (is_reverse_ ? next.end_offset() != byte_range.begin : next.offset() != byte_range.end) break;", ""),
    ("readahead does not start small", "for (size_t count = 1; count < step_count_; ++count) {", "for (size_t count = 1; count < 1000; ++count) {"),
    ("no readahead in reverse", "} else if (is_back == is_reverse_) {", "} else if (!is_back && !is_reverse_) {"),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/read/row_group_loader.cc",
    ("a read without fill_cache grows cached row groups", "} else if (!options_.fill_cache) {", "} else if (false) {"),
    ("the cache is not notified that a row group grew", "if (is_new || !missing.empty()) Cache", "if (is_new) Cache"),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/read/row_group.cc",
    ("blocks that two threads decoded are kept twice", "if (PagesOf(block) != nullptr) return;", ""),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/read/block_cache.cc",
    ("a grown cache entry keeps its old charge", "newest->bytes = bytes;", ""),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/read/section_join.cc",
    ("prefetched cells are released", "  if (!has_cell()) {\n    held", "  if (true) {\n    held"),
    ("a skip drops tombstones of families", "if (cell.kind < CellKind::kDeleteRange) return false;", ""),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/write/section_builder.cc",
    ("rows that continue in the next group are moved", "if (!is_new_row) ContinueRow(cell);", "if (continues_row_ || !is_new_row) ContinueRow(cell);"),
    ("a block's tombstones are not reported", "block.statistics = family.open.statistics();", "block.statistics = family.open.statistics();\n  block.statistics.has_tombstones = false;"),
)
plant(
    "merge", ["unit_merge", "model_test"], "src/merge/row_merge.cc",
    ("history is not requested when the latest version is hidden (engine rule 13)", "source.wants_history |= newer.start > 0 && !has_version_;", ""),
)

CLOCK = ["unit_db --gtest_filter=ClockLeapsTest*"]
plant(
    "clock", CLOCK, "src/state/database_clock.cc",
    ("a clock that leaps decides what is collected (engine rule 7)", "if (!state.is_trusted) state.collection_time", "if (false) state.collection_time"),
    ("cells of the future are collected while the clock is behind (engine rule 7)", "std::min(expected, state.now)", "expected"),
    ("the steps of a clock do not add up", "    steps_lead_ = expected_lead_.load(std::memory_order_relaxed);\n    steps_since_ = elapsed;\n  }", "  }\n  steps_lead_ = expected_lead_.load(std::memory_order_relaxed);"),
    ("a clock is never trusted by agreement", "if (elapsed - agreed_since_ < kClockAgreementMicros)", "if (true)"),
    ("a clock that leaps again keeps its agreement", "    agreed_since_ = elapsed;\n  }", "  }"),
    ("small steps back are not smoothed", "seen - lead <= kClockSmoothedMicros", "false"),
    ("a mark of the future is not corrected", "    mark_.store(lead + elapsed, std::memory_order_relaxed);", "    {}"),
    ("a clock is trusted at open whatever it says", "Distance(lead, expected) <= kClockGapMicros", "true"),
    ("a fence has a time of the future", "? collection_time : mark;", "? mark : mark;"),
    ("a fence is older than commits (engine rule 8)", "? collection_time : mark;", "? collection_time : collection_time;"),
)
plant(
    "clock", CLOCK, "src/write/token_rows.cc",
    ("a leap of the clock ends the protection of tokens", "reads.TakeCommitPoint()", "reads.TakeReadPoint()"),
)

ENGINE = ["unit_db", "crash_test --gtest_filter=-CrashPoints*:KillTest*", "crash_test --gtest_filter=CrashPoints*"]
plant(
    "recovery", ENGINE, "src/db/recovery.cc",
    ("replay applies commits that are in files (engine rule 2)", "sequence <= table->state->flushed_through", "sequence < table->state->flushed_through"),
    ("the log does not advance the mark (engine rule 7)", "storage.clock.RaiseMark(reader.clock_micros());", "{}"),
    ("old commits of the log raise a corrected mark (engine rule 7)", "if (sequence > storage.state.view()->version->last_sequence)", "if (sequence > 0)"),
)
plant(
    "space", ENGINE, "src/wal/commit_log.cc",
    ("the log uses the last of the disk", "options_.check_room ? options_.check_room(record_bytes) : absl::OkStatus()", "absl::OkStatus()"),
)
plant(
    "recovery", ENGINE, "src/db/damage.cc",
    ("edits after a close of the log count as a lost end", "!recovered.closed && tail.closed_manifest_end == SyncedManifestEnd()) {", "!recovered.closed) {"),
    ("a manifest without its end is accepted with a closed log", "if (tail.clean && !recovered.closed &&", "if (false &&"),
    ("a truncated log is accepted", "if (log_end >= synced)", "if (true)"),
    ("a manifest is accepted that is shorter than the log states", "if (manifest_end >= synced)", "if (true)"),
)
plant(
    "recovery", ENGINE, "src/db/open.cc",
    ("replayed commits are not synced before the first acknowledgement (engine rule 3)",
     "STELE_RETURN_IF_ERROR(SyncReplayedLog(log_options, tail));", ""),
    ("the manifest's mark is ignored (engine rule 7)", "storage.clock.RaiseMark(version->clock_mark);", ""),
    ("SSTables without a reference are not deleted", "return !needed.contains(name.number);", "return false;"),
)
STRICTER = ["unit_db --gtest_filter=StricterRuleTest*"]
plant(
    "recovery", STRICTER, "src/manifest/version.cc",
    ("a later rule is applied to ordinals that a delete lowered (engine rule 9)",
     "unknown[family_index - 1] = definition.families[family_index].unfenced_through >= newer_since;", "unknown[family_index - 1] = false && newer_since > 0;"),
)
plant(
    "recovery", STRICTER, "src/views/gc_fence_horizon.cc",
    ("deletes in newer files are not checked",
     "if (!is_older && !input_numbers.contains(reference.file->number)) oldest", "if (false && !is_older) oldest"),
    ("compactions do not check deletes in memtables", "uint64_t oldest = OldestCommitInMemtables(present, nullptr);",
     "uint64_t oldest = UINT64_MAX;"),
    ("data that cannot be reclaimed yet is picked repeatedly", "if (families[family_index].unfenced_through >= oldest) return true;",
     "if (families[family_index].unfenced_through > UINT64_MAX - 1) return true;"),
)
plant(
    "recovery", STRICTER, "src/jobs/job_runner.cc",
    ("a flush does not check deletes in newer memtables", "newer_since = OldestCommitInMemtables(*table, frozen.memtable.get());",
     "static_cast<void>(newer_since);"),
)
plant(
    "recovery", STRICTER, "src/admin/checkpoint.cc",
    ("a checkpoint does not check deletes in newer memtables", ".newer_since = OldestCommitInMemtables(table, it->get())};", "};"),
)
plant(
    "recovery", STRICTER, "src/db/recovery.cc",
    ("replayed commits from before a stricter rule are not flushed", "if (AwaitsFlushOfUnfenced(*table)) storage_.state", "if (false) storage_.state"),
)
plant(
    "recovery", ENGINE, "src/commit/installer.cc",
    ("the manifest refers to commits that are not synced (engine rule 3)", "absl::Status status = parts_.log->Sync(); !status.ok()",
     "absl::Status status; !status.ok()"),
)

plant(
    "wal", ["unit_wal"], "src/wal/log_reader.cc",
    ("a record of an earlier use of the segment continues the log (engine rule 18)",
     "if (record.header.previous_checksum != tail_.last_checksum) return false;", ""),
    ("damage below a known durable offset is accepted (engine rule 18)", "record->header.synced_offset > (is_tail ? begin_offset : 0)", "false"),
    ("damage that a later segment's header reveals is accepted", "later.synced_end > LogPosition{tail_.segment_number, tail_.end_offset}", "false"),
    ("a missing first segment is accepted", "first == nullptr || first->segment_number != options_.oldest_segment", "false"),
    ("a segment is linked only by its number",
     "next->previous_checksum == tail_.last_checksum && next->previous_sequence == tail_.last_sequence;", "true;"),
    ("only the last replayed segment is synced", "if (end <= tail.synced_end) continue;",
     "if (i + 1 < tail.live_numbers.size()) continue;"),
)
plant(
    "wal", ["unit_wal"], "src/wal/log_format.cc",
    ("a guessed record header is accepted", "if (header.checksum != RecordHeaderChecksum(bytes, place)) return std::nullopt;", ""),
    ("a header's checksum is not bound to the segment's current use",
     "kRecordHeaderBytes - kPayloadChecksumAt), place.nonce + place.offset", "kRecordHeaderBytes - kPayloadChecksumAt), place.offset"),
)
plant(
    "wal", ["unit_wal"], "src/wal/segment_reader.cc",
    ("a search reads torn payloads repeatedly", "offset += RecordBytes(header->payload_bytes);",
     "offset += kRecordAlignmentBytes;"),
)
plant(
    "recovery", ENGINE, "src/db/open.cc",
    ("a stray file's number is used", "ParseFileName(name, CountedFileNumberEnd(from_manifest))", "ParseFileName(name)"),
)
plant(
    "wal", ["unit_base"], "src/base/random.cc",
    ("nonces are derived from the clock", "return bytes == sizeof seed ? seed : SeedFromClock();", "return SeedFromClock();"),
)
plant(
    "wal", ["unit_wal"], "src/wal/commit_log.cc",
    ("the first record of a log that begins later comes before its segment is durable",
     "if (begins_later_) STELE_RETURN_IF_ERROR(BeginFirstSegment(record_bytes));", ""),
    ("any error lets a log begin later", "return FoundNoSpace(status) && options_.may_begin_later", "return !status.ok() && options_.may_begin_later"),
    ("new names are not synced", "if (!names_synced) STELE_RETURN_IF_ERROR", "if (false) STELE_RETURN_IF_ERROR"),
    ("a failed sync does not poison (engine rule 20)", "if (!status.ok()) poison_ = status;", ""),
    ("a segment is deleted before the next one is durable", "&& segments_[count + 1].first_sequence <= through) {", ") {"),
    ("sequences may repeat", "if (record.sequence <= last_sequence) return", "if (record.sequence < last_sequence) return"),
    ("a failed segment is recycled as if it were part of the log", "spares_.Retire({active_.number, false});",
     "spares_.Retire({active_.number, true});"),
    ("zeros are written in advance for a log that is synced only for flushes",
     "if (small_syncs_ < kSyncsOften && !spares_.HasRetired()) return false;", ""),
    ("a log that is synced often continues in space that was only reserved", "} else if (SwitchToSpareIsDue()) {", "} else if (false) {"),
)

plant(
    "manifest", ["unit_manifest"], "src/manifest/edit.cc",
    ("flushed_through may decrease (engine rule 2)", "*edit.flushed_through < table->flushed_through", "false"),
    ("the last sequence may decrease", "std::max(next->last_sequence, edit.last_sequence)", "edit.last_sequence"),
    ("a clock mark is not corrected", "if (edit.clock_mark > 0) next->clock_mark = edit.clock_mark;", "next->clock_mark = std::max(next->clock_mark, edit.clock_mark);"),
    ("a schema epoch need not increase", "edit.definition->epoch <= table->definition->epoch", "false"),
    ("an edit's tablets may start inside one of the table", "old->range.start != start) return refuse();", "false) return refuse();"),
    ("an edit's tablets may end inside one of the table", "next->range.start != made.end) return refuse();", "false) return refuse();"),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/stack_edits.cc",
    ("a flush is placed below older files", "edit.stack.insert(edit.stack.begin(),", "edit.stack.insert(edit.stack.end(),"),
    ("a job may split an interval", "other.range.Overlaps(remaining.range);", "false;"),
    ("files with common rows are joined to one sorted run", "if (joined[i - 1].range.Overlaps(joined[i].range)) {", "if (false) {"),
    ("a split copies references to tablets without their rows", "if (!rows.Overlaps(RowsOf(*reference.file))) continue;", ""),
    ("a split tablet refers to rows of the other", "KeyRange rows = Intersect(reference.range, half.range);", "KeyRange rows = reference.range;"),
    ("merged tablets keep two references instead of one", "if (!JoinReference(&merged.stack, reference)) merged", "merged"),
    ("the sorted runs of merged tablets are placed one above the other", "return a.sequence_last > b.sequence_last; });", "return false; });"),
    ("a drop also hides the rows after its range", "parts.push_back({hole.end, range.end, range.unbounded_end});", ";"),
    ("a job's output includes rows that were dropped while it ran", "SubtractAll(Intersect(remaining.range, RowsOf(output)), LostRows(inputs, remaining));",
     "{Intersect(remaining.range, RowsOf(output))};"),
    ("a job's output loses rows outside of the dropped range", "SubtractAll(ShownRows(inputs[i]), std::move(kept))",
     "SubtractAll(inputs[i].range, std::move(kept))"),
    ("a job is installed although its input's commits changed", "HaveSameCommits(reference, input) && ", ""),
    ("the output covers less than the interval of its inputs", "hull.first = std::min(hull.first, reference.sequence_first);",
     "hull.first = reference.sequence_last;"),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/manifest_reader.cc",
    ("a record may follow any other record", "&& record->record_header.previous_checksum == checksum_) return", ") return"),
    ("a part may belong to another edit", "if (record->record_header.edit_offset == scan_.end_offset && record", "if (record"),
    ("a part of the torn edit itself counts as proof of damage", "/*edit_offset_min=*/scan_.end_offset + 1));", "/*edit_offset_min=*/0));"),
    ("a bad record in the middle ends the manifest", "if (!later.has_value()) return absl::OkStatus();", "return absl::OkStatus();"),
    ("record checksums are not checked",
     "record.good = PayloadChecksum(record_header_bytes, record.payload.view()) == record_header->checksum;",
     "record.good = true;"),
)

plant(
    "picker", ["unit_compaction"], "src/compaction/due_changes.cc",
    ("a new GC rule is no change", "before == nullptr || before->definition != table.definition", "before == nullptr"),
    ("the end of a job is no change", "if (!input.busy.contains(name)) changed.AddTablet(name);", ""),
    ("the end of a table's wait for a flush is no change",
     "if (!input.busy_tables.contains(table_id)) changed.AddTable(table_id);", ""),
    ("a file that is read again is no change",
     "for (const auto& [name, files] : last.unreadable) changed.AddTablet(name);", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/compaction_debt.cc",
    ("the debt of a deleted table stays", "if (!after.tables.contains(old[i].first)) Drop(old[i].first);", ""),
    ("a tablet's old debt stays", "    bytes_ -= tablets[i];\n", ""),
    ("a split leaves the shares of its files",
     "if (!std::all_of(differences.begin(), differences.end(), has_same_ranges)) return CountTable(table, unreadable);",
     "if (before.tablets.size() != table.tablets.size()) return CountTable(table, unreadable);"),
)
plant(
    "tablets", ["unit_compaction"], "src/compaction/tablet_picker.cc",
    ("a tablet is split during a job (engine rule 17)", "if (IsBusy(tablet) || BytesOf(tablet) <= input_.tablet_bytes_max) continue;",
     "if (BytesOf(tablet) <= input_.tablet_bytes_max) continue;"),
    ("a tablet is merged during a job (engine rule 17)", "if (!MayMerge(tablet) || std::binary_search(kept.begin(), kept.end(), tablet.range.start)) break;",
     "if (std::binary_search(kept.begin(), kept.end(), tablet.range.start)) break;"),
    ("splits that the user requested are merged", "if (!MayMerge(tablet) || std::binary_search(kept.begin(), kept.end(), tablet.range.start)) break;", "if (!MayMerge(tablet)) break;"),
    ("split tablets are merged at once", "constexpr uint64_t kMergeShare = 4;", "constexpr uint64_t kMergeShare = 1;"),
    ("a giant row is split off although the other part is tiny", "smaller < input_.tablet_bytes_max / kHalfShare", "false"),
    ("only the estimate decides", "if (bytes <= input_.tablet_bytes_max || bytes <= *best_bytes", "if (bytes <= *best_bytes"),
)
plant(
    "tablets", ["unit_db --gtest_filter=Tablet*"], "src/views/tablet_counters.cc",
    ("both tablets of a split get all counts", "return count * (index + 1) / parts - count * index / parts;", "return count;"),
    ("counts start again with each install", "same.counters = old.counters;", ""),
    ("read counts never start again", "if (!OnlyLostRows(old.stack, same.stack)) same.reads_at_stack_change = same.counters->reads.load(std::memory_order_relaxed);",
     ""),
)
plant(
    "tablets", ["unit_db --gtest_filter=DropsBesideJobs*"], "src/views/tablet_counters.cc",
    ("read counts start again with each drop", "if (!OnlyLostRows(old.stack, same.stack)) same", "same"),
)
plant(
    "tablets", ["unit_db --gtest_filter=Tablet*"], "src/jobs/split_point.cc",
    ("a lookup's result is kept forever", "if (it != entries_.end() && ShowSame(it->second.stack, stack)) return", "if (it != known_.end()) return"),
    ("no lookup's result is kept", "entries_.insert_or_assign(name, Entry{stack, split_point});", ""),
    ("a tablet may be split anywhere", "smaller > std::min(best->bytes_before, best->bytes_after)", "false"),
)
plant(
    "tablets", ["unit_db --gtest_filter=Tablet*"], "src/views/index_boundaries.cc",
    ("the first part of a file is ignored", "boundaries.insert(boundaries.begin(), {reader->summary().first_row, 0});", ""),
)

RULES = ["unit_db --gtest_filter=EngineRules*"]
plant(
    "commit", RULES, "src/commit/committer.cc",
    ("a commit ignores a write of the row since its read (engine rule 5)",
     "const bool written = is_written(condition);", "const bool written = false;"),
    ("a commit ignores a schema change since the batch was made (engine rule 5)", "request.generation == generation()",
     "true"),
)
plant(
    "commit", RULES, "src/admin/table_admin.cc",
    ("DropRowRange keeps the memtable's rows (engine rule 14)", "STELE_RETURN_IF_ERROR(AwaitEmptyMemory(parts, table_id));", ""),
)
DROPS = ["unit_db --gtest_filter=DropsBesideJobs*:EngineRules*"]
plant(
    "commit", DROPS, "src/jobs/job_runner.cc",
    ("a flush brings dropped rows back (engine rule 14)", "if (!oldest_now || oldest_now->memtable != frozen.memtable)", "if (false)"),
)
plant(
    "commit", RULES, "src/jobs/job_runner.cc",
    ("a job's ordinals are evaluated at the present time (engine rule 9)", ".newest_commit_time = frozen.newest_commit_time,",
     ".newest_commit_time = parts.clock->Now(),"),
)
plant(
    "commit", DROPS, "src/admin/table_admin.cc",
    ("DropRowRange skips a memtable that has its rows (engine rule 14)", "if (active != nullptr && HasRowIn(*active, range)) parts", "if (false) parts"),
    ("DropRowRange removes a memtable that has other rows (engine rule 14)", "if (const auto newest = NewestDroppable(parts, table_id, range)) {",
     "if (const auto newest = NewestDroppable(parts, table_id, KeyRange::All())) {"),
    ("DropRowRange flushes memtables without its rows", "if (active != nullptr && HasRowIn(*active, range)) parts", "parts"),
    ("a conditional write does not see a drop (engine rule 5)",
     "  NoteChangedRows(parts, table_id, range);\n", ""),
)
plant(
    "commit", DROPS, "src/admin/files_without_rows.cc",
    ("a drop skips files that have its rows (engine rule 14)", "return !rows.EndsBefore(cursor->row_key());", "return false;"),
    ("a drop cuts files that have none of its rows", "return !rows.EndsBefore(cursor->row_key());", "return true;"),
)
LOADS = ["unit_db --gtest_filter=BulkLoad*"]
plant(
    "commit", LOADS, "src/admin/bulk_load.cc",
    ("a load's cells of a dropped family are lost (engine rule 6)", "if (definition.families.IndexOfId(family.family_id)) continue;", "continue;"),
    ("replay applies commits older than a load (engine rule 2)", ".flushed_through = point.sequence,", ".flushed_through = 0,"),
    ("a load has no commit time (engine rule 9)", "file.newest_commit_time = point.commit_time;", "file.newest_commit_time = 0;"),
    ("a failed load leaves files", "if (!stay) files_.Remove();", ""),
    ("a repeated row is accepted", "mutation.row_key() <= last_row_key_", "mutation.row_key() < last_row_key_"),
)
plant(
    "commit", LOADS, "src/admin/load_files.cc",
    ("a load's files are not synced (engine rule 22)", "STELE_RETURN_IF_ERROR(file_->Sync());", ""),
    ("a load's directory is not synced (engine rule 22)", "job_.file_system->SyncDirectory(job_.directory)", "absl::OkStatus()"),
)
plant(
    "commit", LOADS, "src/admin/table_admin.cc",
    ("a write that read before a load is accepted (engine rule 5)",
     "parts.committer->changes().NoteRows(table_id, rows);", ""),
)
plant(
    "commit", LOADS, "src/db/engine.cc",
    ("Close does not end active loads (engine rule 22)", "  loads_.EndAll();\n", ""),
)
plant(
    "commit", LOADS, "src/db/open.cc",
    ("the log claims to extend to a load's sequence (engine rule 18)", "LogTail tail = replayed.tail;",
     "LogTail tail = replayed.tail;\n  tail.last_sequence = replayed.last_sequence;"),
)
plant(
    "commit", RULES, "src/manifest/stack_edits.cc",
    ("a job's output includes rows that were dropped while it ran (engine rule 14)",
     "SubtractAll(Intersect(remaining.range, RowsOf(output)), LostRows(inputs, remaining));", "{Intersect(remaining.range, RowsOf(output))};"),
)

plant(
    "commit", ["unit_db --gtest_filter=NeighbourCompaction*"], "src/jobs/job_runner.cc",
    ("a compaction over adjacent tablets is installed only for the first", "  if (lost_rows) EventCounts",
     "  table_edit.tablets.resize(1);\n  if (lost_rows) EventCounts"),
)
plant(
    "commit", ["unit_db --gtest_filter=*UnreadableFiles*"], "src/jobs/job_scheduler.cc",
    ("an unreadable file is read repeatedly",
     ".unreadable = state_.unreadable().FilesAt(std::chrono::steady_clock::now())};", ".unreadable = {}};"),
)

plant(
    "concurrency", ["concurrency_test"], "src/commit/committer.cc",
    ("a write group is published before it is applied", "  touched_.clear();\n", "  state_->Publish(sequence);\n  touched_.clear();\n"),
)
plant(
    "concurrency", ["concurrency_test --gtest_filter=DropRange*"], "src/admin/table_admin.cc",
    ("DropRowRange keeps the memtable's rows (engine rule 14)", "STELE_RETURN_IF_ERROR(AwaitEmptyMemory(parts, table_id));", ""),
)

plant(
    "commit", ["unit_db --gtest_filter=Load*Writ*"], "src/commit/committer.cc",
    ("writers continue on a table behind a commit barrier (engine rules 1, 2)",
     "return CheckPauses(std::move(tables));", "return absl::OkStatus();"),
    ("a pause that waits when the database is closed hangs", "  pauses_.Close();\n", ""),
)
plant(
    "commit", ["unit_db --gtest_filter=QueuedWrites*"], "src/commit/committer.cc",
    ("a write that stopped stays in the queue",
     "      queue_.erase(std::find(queue_.begin(), queue_.end(), waiter));\n", ""),
)
plant(
    "commit", ["unit_db --gtest_filter=BackgroundWaits*"], "src/jobs/job_waits.cc",
    ("a Compact that waits for its tablet does not stop", "    STELE_RETURN_IF_ERROR(limits.Check());\n", ""),
)
plant(
    "commit", ["unit_commit", "unit_db --gtest_filter=PausedBatches*"], "src/commit/table_pauses.cc",
    ("a write claims only the table that is paused",
     "return is_paused ? RefusedByPause(tables) : absl::OkStatus();",
     "std::erase_if(tables, [this](uint32_t table_id) { mutex_.AssertHeld(); return !paused_.contains(table_id); });\n"
     "  return is_paused ? RefusedByPause(tables) : absl::OkStatus();"),
    ("pauses that wait come before writes that were refused meanwhile",
     "if (it != claims_.end()) it->second.pause_ended = ++last_number_;", ""),
    ("later claims delay a pause", "> std::max(request, claims.pause_ended)", "> UINT64_MAX - 1"),
    ("a claim outlasts its write", "    it->second.numbers.erase(number_);\n", ""),
)

plant(
    "write", ["unit_db --gtest_filter=ContractToken*", "concurrency_test --gtest_filter=TokenConcurrency*"],
    "src/write/write_path.cc",
    ("each batch of a BulkApply reads its token", "unchanged_->sequence = sequence;", "is_found_ = false;"),
    ("a BulkApply does not notice that another one used its token",
     "if (is_found_) return FindUsesOfOthers();", "if (is_found_) return absl::OkStatus();"),
)

plant(
    "write", ["unit_db --gtest_filter=FileDebt*"], "src/db/local_table.cc",
    ("a drop flushes rows without waiting for compactions",
     "  STELE_RETURN_IF_ERROR(engine_->AwaitFileSlot(table_id_, rows));\n", ""),
)

SEQUENCES = ["crash_test --gtest_filter=ShortSequences*"]
plant(
    "sequences", SEQUENCES, "src/commit/committer.cc",
    ("a durable write is acknowledged without a sync", "if (sync) {", "if (false) {"),
)
plant(
    "sequences", SEQUENCES, "src/manifest/manifest_log.cc",
    ("an edit is acknowledged without a sync",
     'if (const absl::Status synced = file_->Sync(); !synced.ok()) return Poison(WithContext(synced, "manifest sync"));', ""),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/manifest_log.cc",
    ("an edit that only the page cache has is not written again",
     "STELE_RETURN_IF_ERROR(file->Write(offset, {bytes.data(), wanted}));", ""),
    ("a torn edit is not removed from the manifest", "if (scan.discarded_bytes > 0) STELE_RETURN_IF_ERROR(file->Truncate(scan.end_offset));", ""),
)
plant(
    "sequences", SEQUENCES, "src/admin/checkpoint_target.cc",
    ("the name of a checkpoint's directory is not synced", "STELE_RETURN_IF_ERROR(fs_->SyncDirectory(ParentDirectory(directory_)));", ""),
)
plant(
    "sequences", SEQUENCES, "src/jobs/sstable_writer.cc",
    ("an SSTable is referenced before it is synced", "STELE_RETURN_IF_ERROR(file_->Sync());", ""),
)

SKIPPING = ["unit_read --gtest_filter=SkippingTest.*:SourceChainTest.*"]
plant(
    "skipping", SKIPPING, "src/read/chain_options.cc",
    ("a file's tombstones are skipped with its cells (engine rule 12)", "has_versions || family.tombstones != 0;", "has_versions;"),
    ("a file is skipped with its row tombstones (engine rule 12)", "if (summary.row_tombstones == 0 && ", "if ("),
)
plant(
    "skipping", SKIPPING, "src/read/chain_options.cc",
    ("newer versions are not counted", "if (apply_gc && retention.CountsVersions()) span.greatest = TimestampSpan().greatest;", ""),
)
plant(
    "skipping", SKIPPING, "src/gc/retention.h",
    ("an age alone makes versions garbage where the ordinal must too", "form_ == Form::kEither && limits_.age_micros != kAnyAge;",
     "limits_.age_micros != kAnyAge;"),
)
plant(
    "skipping", SKIPPING, "src/sstable/read/row_group_loader.cc",
    ("a block's tombstones are skipped with its cells (engine rule 12)", "if (options_.spans.empty() || statistics.has_tombstones) return",
     "if (options_.spans.empty()) return"),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/source_chain.cc",
    ("a plain row is read without its memtables", "row->AddMemtable(std::move(cells));", ""),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/row_cursors.cc",
    ("of equal cells of a plain row the older one is read", "AppendUnion(newer, older, latest_only_, cells);", "AppendUnion(older, newer, latest_only_, cells);"),
    ("a newer source hides a newer version of an older one", "order > 0 || (order == 0 && next_older->timestamp > next_newer->timestamp)", "order > 0"),
    ("a plain row returns garbage versions", "if (KeepsAll(policy, std::span(*cells).subspan(begin))) return;", "if (cells->size() > begin) return;"),
)
plant(
    "memtable", ["unit_memtable --gtest_filter=PlainCells.*:MemtableRandom.*"], "src/memtable/plain_cells.cc",
    ("a plain row has cells of later commits", "node->sequence() > sequence_ || ", ""),
    ("the latest version is read past range tombstones", "if (options_.latest_only && column.HasRangesAt(sequence_)) return false;", ""),
    ("a family's tombstones are not seen", " || column->is_family_tombstones()) return false;", ") return false;"),
)
plant(
    "sstable", ["unit_read --gtest_filter=PlainRowTest.*"], "src/sstable/read/plain_row.cc",
    ("a row that continues in the next group ends early", "if (section.index.continues_row(group_index) || section.index.is_continued(group_index)) return RowForm::kOther;", ""),
    ("cells of sections are returned section by section", "while (place != pages_.begin() && (place - 1)->family_index > family_index) --place;", ""),
    ("history is always omitted", "if (section.reference->is_history && is_needed(section)) return RowForm::kOther;", "if (section.reference->is_history) continue;"),
)
plant(
    "skipping", SKIPPING, "src/sstable/read/row_group.h",
    ("a skipped block hides the next block of its family", "*end = std::min(*end, block.row_end);", "if (PagesOf(block) != nullptr) *end = std::min(*end, block.row_end);"),
)
plant(
    "skipping", SKIPPING, "src/sstable/read/section_cursor.cc",
    ("row tombstones are skipped", "if (section.number == 0 && table.footer.summary.row_tombstones != 0) return false;", ""),
    ("the start of a row that continues is skipped", "|| section_.index.is_continued(group_index)) return false;", ") return false;"),
)
plant(
    "skipping", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/sstable/read/section_cursor.cc",
    ("row groups without wanted cells are read", "if (!can_skip_groups_ ||", "if (true ||"),
    ("large values are read whatever their timestamps", "return !options_.spans.empty() && page.kind(index) == StoredKind::kSetLarge",
     "return false && page.kind(index) == StoredKind::kSetLarge"),
    ("reading a column of a giant row also reads the row's start", "if (!is_positioned_) return;\n  const FamilyMap", "if (!is_positioned_ || !EnterStripe()) return;\n  const FamilyMap"),
)
plant(
    "skipping", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/sstable/read/row_group_loader.cc",
    ("row groups without wanted cells are prefetched", "if (!WantsMuchOf(next)) break;", ""),
    ("the start of a giant row is decoded before the wanted part is known", "!goes_on && block < reference", "block < reference"),
    ("blocks are read whatever their timestamps", "options_.spans[family_index].Meets(statistics.timestamp_min, statistics.timestamp_max)) return true;", "true) return true;"),
)
plant(
    "skipping", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/read/chain_options.cc",
    ("files are read whatever their timestamps", "options.spans[*family_index - 1].Meets(family.timestamp_min, family.timestamp_max)", "true"),
)

MODEL = ["model_test --gtest_filter=*AnswersAsTheReference"]
plant(
    "model", MODEL, "src/jobs/job_runner.cc",
    ("a compaction of the newest files drops tombstones (engine rule 11)", "ReachesEnd(*tablet, subcompaction.input_begin, subcompaction.input_end)",
     "subcompaction.input_begin == 0"),
    ("a flush drops tombstones although files exist (engine rule 11)", ".reaches_end = HasNoFiles(*table_state)};", ".reaches_end = true};"),
    ("a flush evaluates ordinals at the present time (engine rule 9)", ".newest_commit_time = frozen.newest_commit_time,",
     ".newest_commit_time = parts.clock->Now(),"),
)
plant(
    "conditional", ["unit_db", "concurrency_test"], "src/write/conditional_writes.cc",
    ("the row may change between read and commit (engine rule 5)", "  conditions.push_back({.watch = std::move(row.watch), .sequence = row.point.sequence});\n", ""),
    ("the wrong branch is applied", "matched ? mutations.if_matched : mutations.if_not_matched;",
     "matched ? mutations.if_not_matched : mutations.if_matched;"),
    ("the branch that is not applied is not validated",
     "if (mutation->count() > 0) STELE_RETURN_IF_ERROR(CheckForm(row_key, *mutation, schema));", ""),
    ("the new cell is older than the one it replaces", "column->timestamp = std::max(column->timestamp, cell.timestamp().micros());", ""),
    ("a rule does not see the result of the previous one", "if (!is_new) return column;", ""),
    ("a rule on a large value counts as a small write (engine rule 21)", "if (bytes > *admitted_bytes && ", "if (false && "),
    ("an empty value counts as zero", "if (value.size() != sizeof(int64_t)) {", "if (!value.empty() && value.size() != sizeof(int64_t)) {"),
)
plant(
    "model", MODEL, "src/commit/column_versions.cc",
    ("the GC fence ends below the newest garbage version (engine rule 8)", "version(kept + 1) + 1", "version(kept + 1)"),
    ("remembered versions ignore deletes", "    oldest_first_.erase(std::lower_bound(begin, end, op.range_start), std::upper_bound(begin, end, op.timestamp));\n", ""),
)
plant(
    "commit", ["unit_commit --gtest_filter=RowWatches*:Remembered*"], "src/commit/row_watches.cc",
    ("a write since the read does not forget the versions that were read", "row.written > sequence || ", ""),
    ("versions that were read under another rule are used", "known->generation != generation", "false"),
    ("a commit that the read saw is applied again", "if (sequence <= column->sequence) return;", ""),
    ("values are kept for a watch that ended", "if (keeps_values_ && --row_->second.keeping_count == 0) row_->second.kept.clear();", ""),
)
plant(
    "model", MODEL, "src/state/engine_state.cc",
    ("frozen memtables are read oldest first (engine rule 1)",
     "for (auto it = frozen.rbegin(); it != frozen.rend(); ++it)",
     "for (auto it = frozen.begin(); it != frozen.end(); ++it)"),
)
plant(
    "model", MODEL, "src/write/write_steps.cc",
    ("the GC fence comes after its batch's writes (engine rule 8)", "  AppendGcFences(plan, fences, &writer);\n", ""),
)
plant(
    "model", MODEL, "src/manifest/stack_edits.cc",
    ("DropRowRange keeps rows in narrowed files", "if (!part.Overlaps(RowsOf(*reference.file))) continue;",
     "part.start = reference.range.start;"),
)
plant(
    "aggregate", ["unit_merge"], "src/merge/row_merge.cc",
    ("only the newest source's deltas count (engine rule 15)", "      AddDelta(version, &*merged);\n", ""),
)
plant(
    "aggregate", ["unit_memtable"], "src/memtable/column_node.cc",
    ("a memtable node of deltas extends beyond a tombstone", " &&\n           node->commit() > last_tombstone;", ";"),
    ("a memtable node of deltas loses the previous node's value", "span.since = older->delta_span().since;", "span.since = older->commit();"),
)
plant(
    "memtable", ["unit_memtable"], "src/memtable/skip_list.h",
    ("a link does not cover nodes inserted below it", "    tower->path[level]->newest.store(node->newest(), std::memory_order_relaxed);\n", "{}"),
    ("the cut-off part of a link loses its newest sequence", "    own.newest.store(before.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);\n", ""),
    ("the first links do not cover the cells before them", "    tower->links[level].newest.store(newest, std::memory_order_relaxed);\n", "{}"),
    ("a link that was cut gets the row's newest sequence", "own.newest.store(before.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);",
     "own.newest.store(UINT64_MAX, std::memory_order_relaxed);"),
)
plant(
    "memtable", ["unit_memtable"], "src/memtable/row_index.cc",
    ("a row is found by its bits of the hash alone", "    if (row->row_key() == row_key) return row;", "    return row;"),
    ("the last slot of a part has no next one", "      position = (position + 1) & part->mask) {", "      position = position + 1) {"),
    ("a part that grows forgets its rows", "    if (content != 0 && !Place(content, grown)) return false;\n", ""),
    ("refused memory loses a row", "    GiveUp();\n", ""),
)
plant(
    "memtable", ["unit_memtable"], "src/memtable/memtable_cursor.cc",
    ("a column tombstone hides the next column", "  ranges_met_ = false;\n}", "}"),
    ("a family tombstone hides the next family", ": column_->family() + 1;", ": column_->family() + 2;"),
    ("history returns the newest version again", "if (std::exchange(was_newest_passed_, true)) ", ""),
    ("versions below a range tombstone are left out", "latest_only_ && !column_->HasRangesAt(sequence_)", "latest_only_"),
)
plant(
    "memtable", ["unit_memtable"], "src/memtable/column_list.cc",
    ("a changed column is passed over", "    columns_.MarkChanged(column);\n", ""),
)
plant(
    "memtable", ["unit_read"], "src/memtable/memtable_cursor.cc",
    ("no history of a memtable", "  EnterHistory(family, qualifier);\n", "  if (cells != nullptr) return true;\n  EnterHistory(family, qualifier);\n"),
)
plant(
    "aggregate", ["unit_memtable"], "src/memtable/memtable_cursor.cc",
    ("deltas below a tombstone are folded", "|| IsHidden(*older) ? nullptr : older;", "? nullptr : older;"),
)
plant(
    "aggregate", ["unit_cell"], "src/cell/fold.cc",
    ("a minimum is computed as a maximum", "is_less == (kind_ == CellKind::kMin)", "is_less == (kind_ == CellKind::kMax)"),
)
plant(
    "aggregate", ["unit_cell"], "src/base/hll.cc",
    ("of two entries with one index the older one stays", "is_same ? std::max(entry, *old_entry++) : entry", "is_same ? *old_entry++ : entry"),
    ("an overlong varint is accepted", " || before - reader.remaining() != static_cast<size_t>(std::bit_width(step | 1) + 6) / 7) return false;",
     ") return false;"),
)
plant(
    "aggregate", ["unit_mutation"], "src/mutation/check.cc",
    ("every state is accepted", "if (op.kind != Kind::kMerge || MergesNothing(op) || IsDeltaValue(KindOf(type), op.value)) return absl::OkStatus();",
     "if (true) return absl::OkStatus();"),
)
TOKENS = ["unit_db --gtest_filter=*Token*", "crash_test --gtest_filter=Token*", "concurrency_test --gtest_filter=Token*"]
plant(
    "token", ["unit_db --gtest_filter=*Token*:EngineRulesRaceTest.*"], "src/commit/committer.cc",
    ("the leader does not check whether the token was used meanwhile",
     "if (request.token.has_value() && is_written(*request.token)) {", "if (false) {"),
)
plant(
    "token", TOKENS, "src/commit/committer.cc",
    ("a write group contains a token twice", "!is_repeat && rows.WritesNoneOf(", "rows.WritesNoneOf("),
)
plant(
    "token", TOKENS, "src/mutation/batch.cc",
    ("a token is stored without its time", "  if (stamp_place != 0) StoreFixed64(", "  if (false) StoreFixed64("),
)
plant(
    "token", TOKENS, "src/manifest/token_table.cc",
    ("a token is remembered for too long", "std::chrono::microseconds(kTokenMemoryMicros - 1)", "std::chrono::microseconds(kTokenMemoryMicros)"),
)
plant(
    "token", TOKENS, "src/write/write_path.cc",
    ("a repeated bulk write applies all entries again", "if (token_.Covers(i)) continue;", ""),
)
plant(
    "token", TOKENS, "src/write/conditional_writes.cc",
    ("a branch without changes does not use its token", "if (mutation->count() == 0 && !used.unchanged.has_value()) return branch;",
     "if (mutation->count() == 0) return branch;"),
    ("a repeated call returns no row", "SetReturnedRow(changed, &record.use);", ";"),
)
plant(
    "token", TOKENS, "src/write/token_rows.cc",
    ("a changed cell is returned", " || Checksum64(value) != cell.checksum", ""),
    ("a large result is copied", "value_bytes > kReturnedRowBytesMax ? TokenResult::kLargeRow : TokenResult::kRow",
     "TokenResult::kRow"),
)
plant(
    "token", TOKENS, "src/db/local_database.cc",
    ("the tokens' table is listed", "if (table_id != kTokenTableId) names.push_back", "names.push_back"),
)

plant(
    "memory", ["unit_base --gtest_filter=SlabMemory.*"], "src/base/slab_memory.cc",
    ("idle memory is never returned to the system", "if (idle_bytes.load(std::memory_order_relaxed) > kIdleBytesMax) Purge();", ""),
    ("a slot's last page frame counts as free", "return ((slot + 1) * slot_bytes_ - 1) / frame_bytes_;", "return slot * slot_bytes_ / frame_bytes_;"),
    ("slabs without a used slot stay mapped", "    Unlink(slab);\n    unused.reset(slab);\n", ""),
    ("a forked child may find a lock held", "    ::pthread_atfork(", "    if (false) ::pthread_atfork("),
)
plant(
    "memory", ["unit_sstable --gtest_filter=BudgetTest.*"], "src/sstable/read/row_group_loader.cc",
    ("a row group's arrays are not charged", "  blocks->ChargeAll();\n", ""),
)
plant(
    "memory", ["unit_base --gtest_filter=MemoryTracker.*"], "src/base/memory_tracker.h",
    ("charges may use the whole budget", "charged_bytes_max_(budget_bytes - uncharged_bytes)", "charged_bytes_max_(budget_bytes)"),
)
plant(
    "memory", ["unit_db --gtest_filter=MemoryBudgetTest.*"], "src/state/engine_options.cc",
    ("no share of the budget is left for memory that is not charged", "std::min(memory_budget_bytes / 4, 16 * kMiB)", "uint64_t{0}"),
)
plant(
    "memory", ["unit_db --gtest_filter=MemoryBudgetTest.*"], "src/read/scan_view.cc",
    ("the row shown is released with its memtable", "    kept_blocks_.push_back(std::move(block));\n", ""),
)
plant(
    "memory", ["unit_read --gtest_filter=IdleReaderTest.*"], "src/read/idle_reader.cc",
    ("a notification during a call is lost", "    switch_view_();\n    state = kHeld;\n", "    state = kHeld;\n"),
)
plant(
    "memory", ["unit_db --gtest_filter=MemtableSpillTest.*"], "src/views/pinned_views.cc",
    ("idle readers are not notified", "  for (const std::shared_ptr<IdleReader>& reader : readers) reader->ViewReplaced();\n", ""),
)
plant(
    "memory", ["unit_db --gtest_filter=MemoryBudgetTest.*"], "src/admin/load_files.cc",
    ("the memory of a bulk load is not charged", "    charge_.Set(builder_->memory_bytes());\n", ""),
    ("the memory of a finished bulk load stays charged", "  builder_.reset();\n  charge_.Set(0);\n  if", "  builder_.reset();\n  if"),
)
plant(
    "memory", ["unit_merge --gtest_filter=LazyValuesTest.*"], "src/merge/retention_cursor.cc",
    ("values of garbage cells are read", "    Filter(cells, begin);\n    SkipGarbage();\n",
     "    if (policy_.reads_lazy_values && !ReadLazyValue(cells, begin)) return false;\n    Filter(cells, begin);\n    SkipGarbage();\n"),
    ("a value that cannot be read ends the row without an error", "return status_.ok() ? input_->status() : status_;", "return input_->status();"),
)
plant(
    "memory", ["unit_merge --gtest_filter=LazyValuesTest.*"], "src/merge/retention_cursor.cc",
    ("lazy values of a kept row stay unread", "return !has_lazy_values || !policy_.reads_lazy_values || ReadLazyValue(cells, begin);\n}\n\n// Returns true if a kept",
     "return true || has_lazy_values;\n}\n\n// Returns true if a kept"),
    ("lazy values stay unread if rules keep everything", " && !policy.reads_lazy_values) return input;", ") return input;"),
)
plant(
    "merge", ["unit_merge --gtest_filter=LazyValuesTest.*"], "src/merge/row_merge.cc",
    ("history is read beyond the newest version", "  EndHistory();\n", ""),
    ("a hidden version after the newest one causes a read of the history", " && !has_version_;", ";"),
    ("a batch of a shared column continues after a large value", " && !EndsBatch(*cells, begin)) {\n    const Cell* next", ") {\n    const Cell* next"),
)
plant(
    "filter", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/filter/program.cc",
    ("large versions are read and then dropped", " || last.value.size() >= kBatchEndingBytes", ""),
)
plant(
    "read", ["unit_db --gtest_filter=EngineRulesRaceTest.*"], "src/write/gc_fence.cc",
    ("computing a GC fence reads values", ", .defers_values = true", ""),
)
plant(
    "concurrency", ["concurrency_test --gtest_filter=CompactionThreads*"], "src/jobs/job_scheduler.cc",
    ("only one compaction runs at a time", "if (lane != Lane::kUrgent && MayRunLocked())", "if (lane != Lane::kUrgent && MayRunLocked() && running_compactions_ == 0)"),
    ("compaction threads have the usual priority", "  YieldToOthers();\n", ""),
)
plant(
    "write", ["unit_write --gtest_filter=WriteThrottleTest.*"], "src/write/write_throttle.cc",
    ("each writer gets the whole delayed write rate", "std::max(debt_slot_next_, now)", "std::clamp(debt_slot_next_, now, now + kSlotTimeMax)"),
    ("a large write gets all its admissions at once", "std::min(bytes, most)", "bytes"),
    ("admissions outlast the debt", " && pressure_now > kPressureFree", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/merge_policy.cc",
    ("a backlog is merged in one job", "    if (tier.sources > kFanInMax) return OldestOf(clusters, tier);\n", ""),
    ("the newest part of a backlog is merged first, repeatedly", "return OldestOf(clusters, tier);",
     "return Extended(groups, {tier.begin, tier.begin + kFanInMax, 0, kFanInMax}, 0);"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/picker.cc",
    ("an adjacent tablet's backlog is included", " && inputs->sources <= std::max(kFanInMax, seed.inputs.sources)", ""),
)
plant(
    "io", ["unit_io --gtest_filter=FilePoolTest.*"], "src/io/file_pool.cc",
    ("a file is closed during a read", "uint64_t at_rest = kOpen;", "uint64_t at_rest = state;"),
    ("the choice of a file to close ignores recent reads", "if ((before & kUsed) == 0) state_.fetch_or(kUsed, std::memory_order_relaxed);", ""),
    ("one file more than the bound is open", "while (open_count_ >= open_max) {", "while (open_count_ > open_max) {"),
    ("a failed open keeps its slot", "      pool_.GiveUpReserved();\n", ""),
    ("a deleted file keeps its slot", "  ring_.erase(file->place);\n  --open_count_;", "  ring_.erase(file->place);"),
)
plant(
    "io", ["unit_io --gtest_filter=PosixTest.*"], "src/io/posix_descriptor.cc",
    ("at the process's limit no file is closed", "(lacks_descriptors && PosixFilePool().CloseOne())", "(lacks_descriptors && false)"),
    ("files that are only read use the whole limit", "limit.rlim_cur / 2", "limit.rlim_cur"),
)
plant(
    "io", ["unit_io --gtest_filter=PosixTest.*"], "src/io/posix_file_system.cc",
    ("a file of an open directory is opened again by path", "[place = At(path), held = held_]", "[place = Place{path, AT_FDCWD, path}, held = held_]"),
    ("files of an open directory are deleted by path", "::unlinkat(place.directory, place.name.c_str(), 0)",
     "::unlinkat(AT_FDCWD, path.c_str(), 0)"),
)
plant(
    "commit", ["unit_db --gtest_filter=BulkLoadTest.*"], "src/admin/bulk_load.cc",
    ("a finished load keeps its permit", "if (std::exchange(has_permit_, false)) parts_.active->ReleasePermit();", ""),
)
plant(
    "aggregate", ["unit_mutation"], "src/mutation/check.cc",
    ("merging an empty state creates a cell", "    if (MergesNothing(op)) return absl::OkStatus();\n", ""),
)
