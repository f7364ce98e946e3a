"""The bugs that run.py plants: small textual changes of src/, each with the test programs of which at least one has to fail.

A mutant is a mistake somebody could make. What no reader of any API could ever see (a copy too many, a page held too long) is none.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str  # "room.number"
    what: str
    file: str
    old: str  # occurs once in the file
    new: str
    killers: tuple  # programs with their arguments

    @property
    def room(self):
        return self.name.split(".")[0]


MUTANTS = []


def plant(room, killers, file, *changes):
    """changes: (what, old, new)."""
    number = sum(mutant.room == room for mutant in MUTANTS)
    for what, old, new in changes:
        number += 1
        MUTANTS.append(Mutant(f"{room}.{number}", what, file, old, new, tuple(killers)))


plant(
    "flush", ["unit_flush"], "src/flush/flush_job.cc",
    ("partial ranks are judged at now, not at the newest commit (rule 9)", "policy.newest_commit_time = input.newest_commit_time;",
     "policy.newest_commit_time = input.now;"),
    ("tombstones are dropped over older sources (rule 11)", "policy.drop_tombstones = input.reaches_end;",
     "policy.drop_tombstones = true;"),
    ("what was committed later is written too", "NewCursor(input.sequence, options)", "NewCursor(UINT64_MAX, options)"),
    ("cannot be stopped", "target.stop = input.stop;", ""),
    ("ranks in one memtable are taken for true ranks", "policy.partial = true;", "policy.partial = false;"),
    ("the file claims another commit time", "*std::move(summary), input.newest_commit_time, false}",
     "*std::move(summary), input.now, false}"),
)

plant(
    "compaction", ["unit_compaction"], "src/compaction/compaction_job.cc",
    ("the oldest commit time of the inputs counts", "std::max(newest_commit_time, reference.file->newest_commit_time)",
     "reference.file->newest_commit_time"),
    ("a file over tablets states the newest commit of any (rule 9)", "std::min(newest_commit_time, NewestCommitTime(slice))",
     "NewestCommitTime(slice)"),
    ("tombstones are dropped over older sources (rule 11)", "policy.drop_tombstones = slice.reaches_end;",
     "policy.drop_tombstones = true;"),
    ("rows outside a narrowed reference are read", "if (rows.Covers(RowsOf(*slice.inputs[index].file))) return cursor;", "if (true) return cursor;"),
    ("rows outside the job's range are read", "Intersect(reference.range, slice.range)", "reference.range"),
    ("ranks among the inputs are taken for true ranks", "policy.partial = true;", "policy.partial = false;"),
    ("cannot be stopped", "target.stop = input.stop;", ""),
    ("the output never counts as settled", "newest_commit_time, settled}", "newest_commit_time, false}"),
    ("one slice at the end settles all", "settled = settled && slice.reaches_end;", "settled = slice.reaches_end;"),
    ("only the first slice is written", "while (next_slice < input.slices.size()) {", "while (next_slice < 1) {"),
)
plant(
    "compaction", ["unit_compaction", "unit_flush"], "src/compaction/run_writer.cc",
    ("the file is referenced before it is synced (rule 22)", "STELE_RETURN_IF_ERROR(file_->Sync());", ""),
    ("the file's name is not synced (rule 22)", "STELE_RETURN_IF_ERROR(target_.file_system->SyncDirectory(target_.directory));", ""),
    ("an unfinished file stays", "target_.file_system->Remove(Path()).IgnoreError();", ""),
)

plant(
    "picker", ["unit_compaction"], "src/compaction/picker.cc",
    ("busy tablets are picked", "if (!looks_[i].is_free) continue;", ""),
    ("busy tablets are taken along", "look.is_free && !look.is_alone", "!look.is_alone"),
    ("tablets that met damage together go on together", "look.is_free && !look.is_alone", "look.is_free"),
    ("neighbours come along with what needs no merging", "run->sources > 1 && joins", "joins"),
    ("a merge of the whole stack keeps its tombstones", "if (kind == ChoiceKind::kMerge && whole) choice.kind = ChoiceKind::kMajor;", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/stack_shape.cc",
    ("references of one interval are divided", "while (!groups.empty() && group.sequence_last >= groups.back().sequence_first) {",
     "while (false) {"),
    ("a group counts as one, however many of it a read meets", "group.sources = CountSources(std::move(ranges));", ""),
    ("files that lie apart count as sources", "while (!open.empty() && open.top()->EndsBefore(range->start)) open.pop();", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/file_shares.cc",
    ("a shared file counts whole for each tablet", "return file_bytes / file.all / ReferencesBeside(reference, file);",
     "return file_bytes / ReferencesBeside(reference, file);"),
    ("references of one tablet to a file each count for a whole part", "return file_bytes / file.all / ReferencesBeside(reference, file);",
     "return file_bytes / file.all;"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/reclaim_policy.cc",
    ("files go whose tombstones still hide (rule 11)", "LiveTombstones(*stack[i].file, definition) > 0 &&", "false &&"),
    ("dead bytes are left", "constexpr double kDeadShareMin = 0.25;", "constexpr double kDeadShareMin = 0.9;"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/merge_policy.cc",
    ("a large old file is rewritten for small new ones", "constexpr double kAlikeRatio = 3;", "constexpr double kAlikeRatio = 100;"),
    ("a merge waits for one file more", "if (tier.sources < kFanInMin) continue;", "if (tier.sources <= kFanInMin) continue;"),
    ("reads pay for one source too many", "static_cast<double>(run.sources - 1) * kSourceReadNanos",
     "static_cast<double>(run.sources) * kSourceReadNanos"),
    ("what reads have not paid for is merged", "kMergeNanosPerJob + kMergeNanosPerByte * static_cast<double>(run.bytes);", "kMergeNanosPerJob;"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/move_policy.cc",
    ("files with rows in common are moved", "if (after != spans_.begin() && range.Overlaps(*std::prev(after)->second)) return false;", ""),
    ("what was moved is moved again", "if (end - begin > 1 || !HasOneInterval(tablet, groups[begin]))", "if (true)"),
    ("a large file is rewritten for small ones beside it", "if (largest_bytes * kGatherGrowthMin <= run.bytes) return run;", "return run;"),
    ("files that are out of row order are gathered", "|| !HasOneInterval(tablet, group) || !IsInRowOrder(tablet, group)) continue;",
     ") continue;"),
    ("what is settled is settled again", "if (tablet.stack[i].file->settled || !IsAtRest(tablet.stack[i], rest_time)) {",
     "if (!IsAtRest(tablet.stack[i], rest_time)) {"),
    ("what was just written is settled", "if (tablet.stack[i].file->settled || !IsAtRest(tablet.stack[i], rest_time)) {",
     "if (tablet.stack[i].file->settled) {"),
    ("a tablet is at rest while it is written", "if (!IsAtRest(reference, rest_time)) return std::nullopt;", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/neighbours.cc",
    ("a reference of commits inside and outside is taken along (rule 1)",
     "begin->sequence_last > sequence_last || std::prev(end)->sequence_first < sequence_first", "false"),
    ("more goes together than is allowed", "|| bytes + run->bytes > bytes_max", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/dead_share.cc",
    ("row tombstones do not count", "uint64_t count = file.summary.row_tombstones;", "uint64_t count = 0;"),
    ("tombstones of dropped families count", "if (FindRetention(definition, family.family_id) != nullptr) count", "count"),
    ("dropped families are no dead bytes", "double share = 1;", "double share = 0;"),
)

plant(
    "mutation", ["unit_mutation"], "src/mutation/check.cc",
    ("an empty range to delete passes", "if (range.end != range.start) return absl::OkStatus();", "if (true) return absl::OkStatus();"),
    ("server time is not cut to the granularity", "now - now % 1'000", "now"),
    ("a range deletes one microsecond too much", "*op.range_end - 1 :", "*op.range_end :"),
    ("the last change allowed is refused", "mutation.count() <= limits.mutations", "mutation.count() < limits.mutations"),
    ("seals are left out (rule 8)", "for (const BatchOp& op : first) batch->Add(op);", "(void)first;"),
    ("a clock before 1970 stamps negative times", "std::max<int64_t>(now_micros, 0)", "now_micros"),
    ("a column is sealed once for each delete", "columns.erase(std::unique(columns.begin(), columns.end()), columns.end());", ""),
    ("deletes of whole columns are sealed", "|| op.range_start == 0) continue;", ") continue;"),
    ("the row key does not count for the size", "uint64_t bytes = row_key.size();", "uint64_t bytes = 0 * row_key.size();"),
)
plant(
    "mutation", ["unit_mutation"], "src/mutation/batch.cc",
    ("operations are counted on from the row before", "row_op_count_ = 0;", ""),
    ("bytes behind the last row are taken for good", "ok_ = rest_.empty();", ""),
    ("an empty row key is taken for good", "!row_key.empty() &&", ""),
    ("a row key of any size is taken for good", "row_key.size() <= kBatchKeyBytesMax &&", ""),
)
plant(
    "mutation", ["unit_mutation"], "src/mutation/batch_inline.h",
    ("an unknown kind is taken for good", "|| !IsCellKind(kind)) return false;", ") return false;"),
    ("a negative timestamp is taken for good", "if (op->timestamp < 0) return false;", ""),
    ("a range that ends before it starts is taken for good", "&& op->range_start <= op->timestamp;", ";"),
    ("bytes behind a row's last operation are taken for good", "return reader.AtEnd();", "return true;"),
)

plant(
    "merge", ["unit_merge"], "src/merge/row_merge.cc",
    ("a newer range tombstone does not hide", "const bool is_covered = newer.Covers(timestamp);", "const bool is_covered = false;"),
    ("what a row tombstone hides comes back", "row_is_deleted_ = true;\n    source_count_ = i + 1;", "row_is_deleted_ = true;"),
    ("a family tombstone hides newer sources too", "[=](uint32_t index) { return index < deleting; }",
     "[=](uint32_t index) { return index > deleting; }"),
    ("a tombstone under a covering one is handed out", "IsCovered(*widest) || output_active_.Covers(widest->range_start)",
     "IsCovered(*widest)"),
    ("the narrowest of equal tombstones wins", "cell.range_start < widest->range_start", "cell.range_start > widest->range_start"),
    ("columns are skipped one too far", "std::string(column_.qualifier) + '\\0'", "std::string(column_.qualifier) + '\\1'"),
    ("an open column does not outlive a source's last cell", "if (!source.ended || column_is_open_) group_[kept++] = index;",
     "if (!source.ended) group_[kept++] = index;"),
)
plant(
    "merge", ["unit_merge"], "src/merge/merge_cursor.cc",
    ("a failed source is taken for an ended one",
     "if (absl::Status status = source.status(); !status.ok()) return Fail(std::move(status));", ""),
)
plant(
    "merge", ["unit_merge"], "src/merge/row_order.h",
    ("the older of two sources wins", "result < 0 : a < b;", "result < 0 : a > b;"),
    ("reverse order is forward order", "is_reverse_ ? ~head : head", "head"),
    ("the bound's own row is taken for one of the stretch", "places_[bound_]) < 0) return true;", "places_[bound_]) <= 0) return true;"),
    ("a bound outlives the source it was looked for", "has_bound_ &= winner == winner_;", ""),
    ("heads stay where the prefix was longer", "ShortenPrefix(row_key);\n      SetHeads();", "ShortenPrefix(row_key);"),
    ("every row costs a walk up the tree", "if (winner_ == stepped && !has_bound_) FindBound();", ""),
)
plant(
    "merge", ["unit_merge"], "src/merge/run_cursor.cc",
    ("a run ends with the part it began in", "return status_.ok() && EnterFrom(is_reverse_ ? part_ - 1 : part_ + 1);", "return false;"),
    ("a seek does not go on behind its part", "return on_row_ || (status_.ok() && EnterFrom(is_reverse_ ? part - 1 : part + 1));",
     "return on_row_;"),
    ("a part that fails is taken for one that ended", "if (on_row_ || !status_.ok()) return on_row_;", "if (on_row_) return true;"),
    ("two parts are open at once", "  is_open_ = false;\n  cursor_.reset();\n", "  is_open_ = false;\n"),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/runs.cc",
    ("an older file stands beside one that it overlaps", "size_t depth = runs.size();", "size_t depth = std::min<size_t>(runs.size(), 1);"),
    ("every file is a run", "!range.EndsBefore(newest_first[*place]->start)) break;", "true) break;"),
)
plant(
    "merge", ["unit_read"], "src/merge/run_cursor.cc",
    ("a run has no history (rule 13)", "return Answer(cursor_->ReadHistory(family, qualifier, cells));",
     "return family == 0 && qualifier.empty() && cells->empty();"),
)
plant(
    "merge", ["unit_merge"], "src/merge/retention_cursor.cc",
    ("a row begins with the column of the row before", "column_ = Cell{};  // the qualifier too", "//"),
    ("partial ranks are judged at now (rule 9)", "timestamp, policy_.newest_commit_time)", "timestamp, policy_.now)"),
    ("range tombstones are skipped with condemned versions", "|| !policy_.drop_tombstones) return;", ") return;"),
    ("ranks are counted on from the column before", "rank_ = 0;\n    condemned_count_ = 0;", "condemned_count_ = 0;"),
)

plant(
    "gc", ["unit_gc"], "src/gc/retention.cc",
    ("a union takes the greater count", "std::min(result.limits.version_count", "std::max(result.limits.version_count"),
    ("a union takes the greater age", "std::min(result.limits.age_micros", "std::max(result.limits.age_micros"),
    ("an intersection takes the smaller count", "std::max(limits.version_count", "std::min(limits.version_count"),
    ("an intersection passes over what keeps everything", "if (flat.form == Form::kKeep) return {};",
     "if (flat.form == Form::kKeep) continue;"),
    ("a version too many goes, in a tree of rules", "return rank > VersionLimit(node);", "return rank >= VersionLimit(node);"),
    ("an endless age condemns", "std::numeric_limits<int64_t>::max() - 1)", "std::numeric_limits<int64_t>::max())"),
    ("a tree of rules is judged by its parts", "if (is_tree) return {Form::kTree, {}};", ""),
)
plant(
    "gc", ["unit_gc"], "src/gc/retention.h",
    ("a version exactly as old as allowed goes", "return timestamp < oldest_kept;", "return timestamp <= oldest_kept;"),
    ("one limit of an intersection is enough", "rank > limits_.version_count && OlderThan", "rank > limits_.version_count || OlderThan"),
    ("a version too many goes", "rank > limits_.version_count || OlderThan", "rank >= limits_.version_count || OlderThan"),
)

plant(
    "read", ["unit_read"], "src/read/row_stream.cc",
    ("a row above the limit", "rows_returned_ >= options_.limit", "rows_returned_ > options_.limit"),
    ("a second cell tells whether there is any", " || (options_.any_cell && end > shown_)", ""),
    ("reverse reads take the ranges forward", "if (options_.reverse) std::reverse(stretches_.begin(), stretches_.end());", ""),
    ("a reverse read leaves out a range's first row", "chain_->row_key() >= range.start", "chain_->row_key() > range.start"),
    ("a chain for one row is used for a range", "!single && !chain_is_for_one_row_ &&", "!single &&"),
    ("a chain is used for another tablet", "&& chain_tablet_ == stretch.tablet_index) return true;", ") return true;"),
    ("every piece is the last", "row_open_ = end < cells_.size();", "row_open_ = false;"),
    ("a failed source is taken for an ended one", "if (!on_row && !chain_->status().ok()) return Fail(chain_->status());", ""),
    ("a failure inside a row is taken for its end", "if (!chain_->status().ok()) Fail(chain_->status());", ""),
    ("a row of which nothing passed ends the read", "    if (!status_.ok()) return false;\n    if (options_.on_progress", "    return false;\n    if (options_.on_progress"),
    ("shown cells are shown again", "  shown_ = 0;\n  return Hold();", "  return Hold();"),
)
plant(
    "read", ["unit_read"], "src/read/interruption.h",
    ("a stop token is not looked at", "stop.stop_requested()", "false"),
    ("a deadline is looked at once only", "checks++ % kChecksPerClock == 0", "checks++ == 0"),
    ("closing is not noticed", "closed->load(std::memory_order_acquire)", "false"),
)
plant(
    "read", ["unit_db"], "src/read/row_lookup.cc",
    ("a row lookup takes the next row for its own", "if (chain->row_key() != row_key) return std::nullopt;", ""),
    ("a lookup is not interrupted", "STELE_RETURN_IF_ERROR(lookup->interruption.Check());\n  const FilterProgram", "const FilterProgram"),
    ("a result may be of any size", "lookup->result_bytes <= kResultBytesMax", "true"),
    ("a lookup sees later commits", "options.sequence = lookup->sequence;", "options.sequence = UINT64_MAX;"),
)
plant(
    "read", ["unit_read"], "src/read/chain_options.cc",
    ("condemned versions show", "if (apply_gc) options.retention->rules", "if (false) options.retention->rules"),
)
plant(
    "read", ["unit_read"], "src/read/chain_parts.cc",
    ("a file's last row is not looked for", "*options.only_row > summary.last_row", "*options.only_row >= summary.last_row"),
)
plant(
    "read", ["unit_read"], "src/read/source_chain.cc",
    ("rows outside a narrowed reference show", "if (!reference.narrowed) return cursor;", "if (true) return cursor;"),
    ("a memtable's rows show in every tablet", "    if (table.tablets.size() > 1) {", "    if (false) {"),
)
plant(
    "read", ["unit_read"], "src/read/chain_parts.cc",
    ("an excised row is found by its key", "if (options.only_row && !reference.reference.range.Contains(*options.only_row)) return OpenedFile();", ""),
)
plant(
    "read", ["unit_read"], "src/read/source_chain.cc",
    ("commits after the read point show", "memtable->NewCursor(options.sequence,", "memtable->NewCursor(UINT64_MAX,"),
)
plant(
    "read", ["unit_read"], "src/read/chain_parts.cc",
    ("families nobody asked for are read", "if (rank != kSkippedFamily && !wanted[rank - 1]) rank = kSkippedFamily;", ""),
)

plant(
    "sstable", ["unit_sstable"], "src/sstable/section_cursor.cc",
    ("a row's pages are taken for the next stripe's too", "if (row_ >= stripe_begin_ && row_ < stripe_end_) return true;",
     "if (stripe_end_ != 0) return true;"),
    ("what is loaded of a group is forgotten under the row", "group_index_ == group_index ? group_ : nullptr", "nullptr"),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/row_group_loader.cc",
    ("what lies between extents is read ahead too",
     "if (is_reverse_ ? next.end_offset() != stretch.begin : next.offset() != stretch.end) break;", ""),
    ("read-ahead does not begin small", "for (size_t count = 1; count < step_count_; ++count) {", "for (size_t count = 1; count < 1000; ++count) {"),
    ("no read-ahead backwards", "} else if (is_back == is_reverse_) {", "} else if (!is_back && !is_reverse_) {"),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/row_group_loader.cc",
    ("who may not fill the cache grows what is in it", "} else if (!options_.fill_cache) {", "} else if (false) {"),
    ("the cache is not told that a group grew", "if (is_new || !missing.empty()) Cache", "if (is_new) Cache"),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/row_group.cc",
    ("units that two decoded at once are kept twice", "if (PagesOf(unit) != nullptr) return;  // somebody was faster", ""),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/block_cache.cc",
    ("a block that grew counts as it was", "newest->bytes = bytes;  // a block that was here already may have grown", ""),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/section_join.cc",
    ("cells read ahead are let go", "  if (!has_cell()) {\n    held", "  if (true) {\n    held"),
    ("a skip drops tombstones of families", "if (cell.kind < CellKind::kDeleteRange) return false;", ""),
)
plant(
    "sstable", ["unit_sstable"], "src/sstable/section_builder.cc",
    ("later rows move where a group goes on", "if (!is_new_row) ContinueRow(cell);", "if (continues_row_ || !is_new_row) ContinueRow(cell);"),
    ("a unit's tombstones are not told of", "unit->has_tombstones = statistics.has_tombstones;", "unit->has_tombstones = false;"),
)
plant(
    "merge", ["unit_merge", "model_test"], "src/merge/row_merge.cc",
    ("history is not asked for when the latest is hidden (rule 13)", "source.wants_history |= newer.start > 0 && !has_version_;", ""),
)

ENGINE = ["unit_db", "crash_test --gtest_filter=-CrashPoints*:KillTest*", "crash_test --gtest_filter=CrashPoints*"]
plant(
    "recovery", ENGINE, "src/db/recovery.cc",
    ("what is in files is replayed (rule 2)", "sequence <= table->state->flushed_through", "sequence < table->state->flushed_through"),
    ("the log does not raise the clock (rule 7)",
     "  engine.clock.RaiseTo(reader.clock_micros());\n  return absl::OkStatus();\n}\n\n// A batch that is applied later",
     "  return absl::OkStatus();\n}\n\n// A batch that is applied later"),
)
plant(
    "recovery", ENGINE, "src/db/open.cc",
    ("a manifest without its end passes beside a closed log", "if (replayed.tail.clean && !recovered.closed) {", "if (false) {"),
    ("a log cut short passes", "if (reached < version->log_reach) {", "if (false) {"),
    ("a manifest that the log knows to be longer passes", "manifest_end < synced)", "false)"),
    ("what was replayed is not synced before the first ack (rule 3)",
     "STELE_RETURN_IF_ERROR(SyncReplayedLog(log_options, tail));", ""),
    ("the manifest's clock is not taken up (rule 7)", "engine.clock.RaiseTo(version->clock_mark);", ""),
    ("SSTables that nothing references stay", "return !needed.contains(name.number);", "return false;"),
)
STRICTER = ["unit_db --gtest_filter=StricterRuleTest*"]
plant(
    "recovery", STRICTER, "src/manifest/version.cc",
    ("a rule that came later is applied to ranks that a delete lowered (rule 9)",
     "unknown[rank - 1] = definition.families[rank].unsealed_through >= newer_since;", "unknown[rank - 1] = false && newer_since > 0;"),
)
plant(
    "recovery", STRICTER, "src/db/unsealed_deletes.cc",
    ("deletes in newer files are not looked for",
     "if (!is_older && !input_numbers.contains(reference.file->number)) oldest", "if (false && !is_older) oldest"),
    ("deletes in memtables are not looked for by compactions", "uint64_t oldest = OldestCommitInMemtables(now, nullptr);",
     "uint64_t oldest = UINT64_MAX;"),
    ("what cannot be reclaimed yet is chosen again and again", "if (families[rank].unsealed_through >= oldest) return true;",
     "if (families[rank].unsealed_through > UINT64_MAX - 1) return true;"),
)
plant(
    "recovery", STRICTER, "src/db/jobs.cc",
    ("a flush looks for no deletes in newer memtables", "newer_since = OldestCommitInMemtables(*table, frozen.memtable.get());",
     "static_cast<void>(newer_since);"),
)
plant(
    "recovery", STRICTER, "src/db/checkpoint.cc",
    ("a checkpoint looks for no deletes in newer memtables", ".newer_since = OldestCommitInMemtables(table, it->get()),", ""),
)
plant(
    "recovery", STRICTER, "src/db/recovery.cc",
    ("what was replayed of before a stricter rule is not flushed", "if (AwaitsFlushOfUnsealed(*table)) engine_.state", "if (false) engine_.state"),
)
plant(
    "recovery", ENGINE, "src/db/installer.cc",
    ("the manifest refers to commits not synced (rule 3)", "absl::Status status = parts_.log->Sync(); !status.ok()",
     "absl::Status status; !status.ok()"),
)

plant(
    "wal", ["unit_wal"], "src/wal/log_reader.cc",
    ("a record of an earlier life continues the log (rule 18)",
     "if (record.header.previous_checksum != tail_.last_checksum) return false;", ""),
    ("damage below an attested offset passes (rule 18)", "record->header.synced_offset > (is_tail ? begin_offset : 0)", "false"),
    ("a later segment's attestation passes", "later.synced_end > LogPosition{tail_.segment_number, tail_.end_offset}", "false"),
    ("a missing first segment passes", "options_.oldest_segment > 0 && first != options_.oldest_segment", "false"),
    ("a segment is linked by its number alone",
     "next->previous_checksum == tail_.last_checksum && next->previous_sequence == tail_.last_sequence;", "true;"),
    ("of what was replayed only the last segment is synced", "if (end <= tail.synced_end) continue;",
     "if (i + 1 < tail.live_numbers.size()) continue;"),
)
plant(
    "wal", ["unit_wal"], "src/wal/log_format.cc",
    ("a guessed record header is believed", "if (header.checksum != RecordHeaderChecksum(bytes, place)) return std::nullopt;", ""),
    ("a header's checksum is not bound to the segment's life",
     "kRecordHeaderBytes - kPayloadChecksumAt), place.nonce + place.offset", "kRecordHeaderBytes - kPayloadChecksumAt), place.offset"),
)
plant(
    "wal", ["unit_wal"], "src/wal/segment_reader.cc",
    ("a search reads torn payloads again and again", "offset += RecordBytes(header->payload_bytes);",
     "offset += kRecordAlignmentBytes;"),
)
plant(
    "recovery", ENGINE, "src/db/open.cc",
    ("a stray's number is counted", "ParseFileName(name, FileNumberEnd(from_manifest))", "ParseFileName(name)"),
)
plant(
    "wal", ["unit_base"], "src/base/random.cc",
    ("nonces are made of the clock", "return bytes == sizeof seed ? seed : SeedFromClock();", "return SeedFromClock();"),
)
plant(
    "wal", ["unit_wal"], "src/wal/commit_log.cc",
    ("new names are not synced", "if (!names_synced) STELE_RETURN_IF_ERROR", "if (false) STELE_RETURN_IF_ERROR"),
    ("a failed sync does not poison (rule 20)", "if (!status.ok()) poison_ = status;", ""),
    ("a segment goes before the next is durable", "&& segments_[count + 1].first_sequence <= through) {", ") {"),
    ("sequences may repeat", "if (record.sequence <= last_sequence) return", "if (record.sequence < last_sequence) return"),
    ("a segment that failed is recycled as if it were part of the log", "spares_.Retire({active_.number, false});",
     "spares_.Retire({active_.number, true});"),
    ("zeros are written ahead for a log that is synced for flushes alone",
     "if (small_syncs_ < kSyncsOften && !spares_.HasRetired()) return false;", ""),
    ("a log that is synced often stays in space that was only reserved", " || SpareServesBetter()", ""),
)

plant(
    "manifest", ["unit_manifest"], "src/manifest/edit.cc",
    ("flushed_through may go back (rule 2)", "*edit.flushed_through < table->flushed_through", "false"),
    ("the last sequence may go back", "std::max(next->last_sequence, edit.last_sequence)", "edit.last_sequence"),
    ("the clock mark may go back", "std::max(next->clock_mark, edit.clock_mark)", "edit.clock_mark"),
    ("a schema epoch need not rise", "edit.definition->epoch <= table->definition->epoch", "false"),
    ("tablets are cut where none of the table begins", "old->range.start != start) return refuse();", "false) return refuse();"),
    ("an edit's tablets may end inside one of the table", "next->range.start != made.end) return refuse();", "false) return refuse();"),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/stack_edits.cc",
    ("a flush is put below what is older", "edit.stack.insert(edit.stack.begin(),", "edit.stack.insert(edit.stack.end(),"),
    ("a job may divide an interval", "other.range.Overlaps(left.range);", "false;"),
    ("files with rows in common are joined", "if (joined[i - 1].range.Overlaps(joined[i].range)) {", "if (false) {"),
    ("a split hands on what a half does not show", "if (!rows.Overlaps(RowsOf(*reference.file))) continue;", ""),
    ("a half shows the other's rows", "KeyRange rows = Intersect(reference.range, half.range);", "KeyRange rows = reference.range;"),
    ("merged tablets keep two references for one", "if (!JoinReference(&merged.stack, reference)) merged", "merged"),
    ("merged stacks stand one on the other", "return a.sequence_last > b.sequence_last; });", "return false; });"),
    ("an excised range keeps the rows behind it out", "parts.push_back({hole.end, range.end, range.unbounded_end});", ";"),
    ("a job shows what was dropped while it ran", "SubtractAll(Intersect(left.range, RowsOf(output)), LostRows(inputs, left));",
     "{Intersect(left.range, RowsOf(output))};"),
    ("a job loses rows beside those that were dropped", "SubtractAll(ShownRows(inputs[i]), std::move(kept))",
     "SubtractAll(inputs[i].range, std::move(kept))"),
    ("a job that finds other commits under its input is installed", "HaveSameCommits(reference, input) && ", ""),
    ("the output covers less than its inputs' interval", "hull.first = std::min(hull.first, reference.sequence_first);",
     "hull.first = reference.sequence_last;"),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/manifest_reader.cc",
    ("a record may follow any other", "&& record->frame.previous_checksum == checksum_) return", ") return"),
    ("a part may be of another edit", "if (record->frame.edit_offset == scan_.end_offset && record", "if (record"),
    ("a part of the torn edit itself proves damage", "/*edit_offset_min=*/scan_.end_offset + 1));", "/*edit_offset_min=*/0));"),
    ("a bad record in the middle ends the manifest", "if (!later.has_value()) return absl::OkStatus();", "return absl::OkStatus();"),
    ("records are taken without their checksum",
     "record.good = PayloadChecksum(frame_bytes, record.payload.view()) == frame->checksum;",
     "record.good = true;"),
)

plant(
    "tablets", ["unit_compaction"], "src/compaction/tablet_picker.cc",
    ("a tablet is split over a running job (rule 17)", "if (IsBusy(tablet) || BytesOf(tablet) <= input_.tablet_bytes_max) continue;",
     "if (BytesOf(tablet) <= input_.tablet_bytes_max) continue;"),
    ("a tablet is merged over a running job (rule 17)", "if (!MayMerge(tablet) || kept.contains(tablet.range.start)) break;",
     "if (kept.contains(tablet.range.start)) break;"),
    ("the user's splits are merged away", "if (!MayMerge(tablet) || kept.contains(tablet.range.start)) break;", "if (!MayMerge(tablet)) break;"),
    ("what was split is merged at once", "constexpr uint64_t kMergeShare = 4;", "constexpr uint64_t kMergeShare = 1;"),
    ("a giant row is cut off for next to nothing", "smaller < input_.tablet_bytes_max / kHalfShare", "false"),
    ("the estimate alone decides", "if (bytes <= input_.tablet_bytes_max || bytes <= *best_bytes", "if (bytes <= *best_bytes"),
)
plant(
    "tablets", ["unit_db --gtest_filter=Tablet*"], "src/db/tablet_counters.cc",
    ("both halves get all counts", "return count * (index + 1) / parts - count * index / parts;", "return count;"),
    ("counts begin anew with each install", "same.counters = old.counters;", ""),
    ("reads never begin anew", "if (!OnlyLostRows(old.stack, same.stack)) same.reads_before = same.counters->reads.load(std::memory_order_relaxed);",
     ""),
)
plant(
    "tablets", ["unit_db --gtest_filter=DropsBesideJobs*"], "src/db/tablet_counters.cc",
    ("reads begin anew with each drop", "if (!OnlyLostRows(old.stack, same.stack)) same", "same"),
)
plant(
    "tablets", ["unit_db --gtest_filter=Tablet*"], "src/db/tablet_halves.cc",
    ("what was found once is said for ever", "if (it != known_.end() && ShowSame(it->second.stack, stack)) return", "if (it != known_.end()) return"),
    ("nothing is remembered", "known_.insert_or_assign(name, Known{stack, halves});", ""),
    ("a tablet parts anywhere", "smaller > std::min(best->bytes_before, best->bytes_behind)", "false"),
)
plant(
    "tablets", ["unit_db --gtest_filter=Tablet*"], "src/db/stored_parts.cc",
    ("a file's first part is forgotten", "boundaries.insert(boundaries.begin(), {reader->summary().first_row, 0});", ""),
)

RULES = ["unit_db --gtest_filter=EngineRules*"]
plant(
    "commit", RULES, "src/db/committer.cc",
    ("a row written since it was read is passed over (rule 5)",
     "const bool written = may_be_written(condition);", "const bool written = false;"),
    ("a schema changed since the batch was made is passed over (rule 5)", "request.generation == generation()",
     "true"),
)
plant(
    "commit", RULES, "src/db/schema_change.cc",
    ("DropRowRange leaves the memtable (rule 14)", "STELE_RETURN_IF_ERROR(AwaitEmptyMemory(engine, table_id));", ""),
)
plant(
    "commit", RULES, "src/db/jobs.cc",
    ("a job's ranks are judged at now (rule 9)", ".newest_commit_time = frozen.newest_commit_time,",
     ".newest_commit_time = engine.clock.Now(),"),
)
DROPS = ["unit_db --gtest_filter=DropsBesideJobs*:EngineRules*"]
plant(
    "commit", DROPS, "src/db/schema_change.cc",
    ("DropRowRange leaves a memtable that has its rows (rule 14)", "if (active != nullptr && HasRowIn(*active, range)) engine", "if (false) engine"),
    ("DropRowRange flushes what it has nothing to do with", "if (active != nullptr && HasRowIn(*active, range)) engine", "engine"),
    ("a conditional write does not notice a drop (rule 5)",
     "    engine.committer->changes().NoteRows(table_id, range);\n", ""),
)
plant(
    "commit", DROPS, "src/db/spared_files.cc",
    ("a drop spares files that have its rows (rule 14)", "return !rows.EndsBefore(cursor->row_key());", "return false;"),
    ("a drop cuts files that have none of its rows", "return !rows.EndsBefore(cursor->row_key());", "return true;"),
)
LOADS = ["unit_db --gtest_filter=BulkLoad*"]
plant(
    "commit", LOADS, "src/db/bulk_load.cc",
    ("a load's cells of a dropped family are lost (rule 6)", "if (definition.families.RankOfId(family.family_id)) continue;", "continue;"),
    ("replay is not kept off a load (rule 2)", ".flushed_through = moment.sequence,", ".flushed_through = 0,"),
    ("a load has no commit time (rule 9)", "file.newest_commit_time = moment.now;", "file.newest_commit_time = 0;"),
    ("a load's files stay when it fails", "if (!stay && engine_.CheckProcess().ok()) files_.Remove();", ""),
    ("a repeated row is taken", "mutation.row_key() <= last_row_key_", "mutation.row_key() < last_row_key_"),
)
plant(
    "commit", LOADS, "src/db/load_files.cc",
    ("a load's files are not synced (rule 22)", "STELE_RETURN_IF_ERROR(file_->Sync());", ""),
    ("a load's directory is not synced (rule 22)", "engine_.file_system->SyncDirectory(engine_.directory)", "absl::OkStatus()"),
)
plant(
    "commit", LOADS, "src/db/schema_change.cc",
    ("a write that read before a load is not refused (rule 5)",
     "engine.committer->changes().NoteRows(table_id, rows);", ""),
)
plant(
    "commit", LOADS, "src/db/engine.cc",
    ("Close leaves loads at work (rule 22)", "  loads.EndAll();\n", ""),
)
plant(
    "commit", LOADS, "src/db/open.cc",
    ("the log is said to reach a load's sequence (rule 18)", "LogTail tail = replayed.tail;",
     "LogTail tail = replayed.tail;\n  tail.last_sequence = replayed.last_sequence;"),
)
plant(
    "commit", RULES, "src/manifest/stack_edits.cc",
    ("a job shows what was dropped while it ran (rule 14)",
     "SubtractAll(Intersect(left.range, RowsOf(output)), LostRows(inputs, left));", "{Intersect(left.range, RowsOf(output))};"),
)

plant(
    "commit", ["unit_db --gtest_filter=NeighbourCompaction*"], "src/db/jobs.cc",
    ("a compaction over neighbours is installed for the first alone", "  if (lost_rows) EventCounts",
     "  table_edit.tablets.resize(1);\n  if (lost_rows) EventCounts"),
)
plant(
    "commit", ["unit_db --gtest_filter=*UnreadableFiles*"], "src/db/background.cc",
    ("a file that could not be read is read again and again",
     ".unreadable = state_.unreadable.FilesAt(std::chrono::steady_clock::now())};", ".unreadable = {}};"),
)

plant(
    "concurrency", ["concurrency_test"], "src/db/committer.cc",
    ("a group is published before it is applied", "  touched_.clear();\n", "  state_->Publish(sequence);\n  touched_.clear();\n"),
)
plant(
    "concurrency", ["concurrency_test --gtest_filter=DropRange*"], "src/db/schema_change.cc",
    ("DropRowRange leaves the memtable (rule 14)", "STELE_RETURN_IF_ERROR(AwaitEmptyMemory(engine, table_id));", ""),
)

plant(
    "commit", ["unit_db --gtest_filter=Load*Writ*"], "src/db/committer.cc",
    ("writers of a held table go on (rules 1, 2)",
     "if (holds_.contains(row.table_id())) return row.table_id();", ""),
)

SEQUENCES = ["crash_test --gtest_filter=ShortSequences*"]
plant(
    "sequences", SEQUENCES, "src/db/committer.cc",
    ("a durable write is acked without a sync", "if (sync) {", "if (false) {"),
)
plant(
    "sequences", SEQUENCES, "src/manifest/manifest_log.cc",
    ("an edit is acked without a sync",
     'if (const absl::Status synced = file_->Sync(); !synced.ok()) return Poison(WithContext(synced, "manifest sync"));', ""),
)
plant(
    "manifest", ["unit_manifest"], "src/manifest/manifest_log.cc",
    ("an edit that only the cache knows is not written again",
     "STELE_RETURN_IF_ERROR(file->Write(offset, {bytes.data(), wanted}));", ""),
    ("a torn edit stays in the manifest", "if (scan.discarded_bytes > 0) STELE_RETURN_IF_ERROR(file->Truncate(scan.end_offset));", ""),
)
plant(
    "sequences", SEQUENCES, "src/db/checkpoint_target.cc",
    ("the name of a checkpoint's directory is not synced", "STELE_RETURN_IF_ERROR(fs_->SyncDirectory(ParentDirectory(directory_)));", ""),
)
plant(
    "sequences", SEQUENCES, "src/compaction/run_writer.cc",
    ("an SSTable is referenced before it is synced", "STELE_RETURN_IF_ERROR(file_->Sync());", ""),
)

SKIPPING = ["unit_read --gtest_filter=SkippingTest.*:SourceChainTest.*"]
plant(
    "skipping", SKIPPING, "src/read/chain_parts.cc",
    ("a file's tombstones are ruled out with its cells (rule 12)", "has_versions || family.tombstones != 0;", "has_versions;"),
    ("a file is left out with its tombstones of rows (rule 12)", "if (summary.row_tombstones == 0 && ", "if ("),
)
plant(
    "skipping", SKIPPING, "src/read/chain_options.cc",
    ("newer versions are not counted", "if (apply_gc && retention.CountsVersions()) span.greatest = TimestampSpan().greatest;", ""),
)
plant(
    "skipping", SKIPPING, "src/gc/retention.h",
    ("an age alone condemns where the rank has to as well", "form_ == Form::kEither && limits_.age_micros != kAnyAge;",
     "limits_.age_micros != kAnyAge;"),
)
plant(
    "skipping", SKIPPING, "src/sstable/row_group_loader.cc",
    ("a unit's tombstones are skipped with its cells (rule 12)", "if (options_.spans.empty() || unit.has_tombstones) return",
     "if (options_.spans.empty()) return"),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/plain_row_cursor.cc",
    ("versions of a column are not counted as such", "if (CompareColumn(cell, column) != 0) rank = 0;", ""),
)
plant(
    "read", ["unit_read --gtest_filter=PlainRowTest.*"], "src/read/row_sources.cc",
    ("a row that a memtable has too is read from its file alone", "files_.size() != 1 || !memtables_.empty()", "files_.size() != 1"),
)
plant(
    "sstable", ["unit_read --gtest_filter=PlainRowTest.*"], "src/sstable/plain_row.cc",
    ("a row that goes on in the next group ends there", "if (section.index.continues_row(group_index) || section.index.is_continued(group_index)) return RowForm::kOther;", ""),
    ("sections' cells stand one behind the other", "while (place != pages_.begin() && (place - 1)->rank > rank) --place;", ""),
    ("history is left out whoever asks", "if (section.reference->is_history && is_needed(section)) return RowForm::kOther;", "if (section.reference->is_history) continue;"),
)
plant(
    "skipping", SKIPPING, "src/sstable/row_group.h",
    ("a unit that was skipped hides the next of its family", "*end = std::min(*end, unit.row_end);", "if (PagesOf(unit) != nullptr) *end = std::min(*end, unit.row_end);"),
)
plant(
    "skipping", SKIPPING, "src/sstable/section_cursor.cc",
    ("tombstones of rows are passed over", "if (section.number == 0 && table.footer.summary.row_tombstones != 0) return false;", ""),
    ("the beginning of a row that goes on is passed over", "|| section_.index.is_continued(group_index)) return false;", ") return false;"),
)
plant(
    "skipping", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/sstable/section_cursor.cc",
    ("row groups without anything wanted are read", "if (!may_pass_over_ ||", "if (true ||"),
    ("large values are read whatever their timestamps", "return !options_.spans.empty() && page.kind(index) == StoredKind::kSetLarge",
     "return false && page.kind(index) == StoredKind::kSetLarge"),
    ("a column of a giant row costs the row's beginning", "if (!is_positioned_) return;\n  const FamilyMap", "if (!is_positioned_ || !EnterStripe()) return;\n  const FamilyMap"),
)
plant(
    "skipping", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/sstable/row_group_loader.cc",
    ("row groups of which nothing is wanted are read ahead", "if (!WantsMuchOf(next)) break;", ""),
    ("the beginning of a giant row is decoded before it is known what of the row is wanted", "!goes_on && unit < reference", "unit < reference"),
    ("units are read whatever their timestamps", "options_.spans[rank].Meets(unit.timestamp_min, unit.timestamp_max)) return true;", "true) return true;"),
)
plant(
    "skipping", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/read/chain_parts.cc",
    ("files are read whatever their timestamps", "options.spans[*rank - 1].Meets(family.timestamp_min, family.timestamp_max)", "true"),
)

MODEL = ["model_test --gtest_filter=*AnswersAsTheReference"]
plant(
    "model", MODEL, "src/db/jobs.cc",
    ("a compaction of the newest files drops tombstones (rule 11)", "ReachesEnd(*tablet, slice.input_begin, slice.input_end)",
     "slice.input_begin == 0"),
    ("a flush drops tombstones over files (rule 11)", ".reaches_end = HasNoFiles(*table_state),", ".reaches_end = true,"),
    ("a flush judges ranks at now (rule 9)", ".newest_commit_time = frozen.newest_commit_time,",
     ".newest_commit_time = engine.clock.Now(),"),
)
plant(
    "conditional", ["unit_db", "concurrency_test"], "src/db/conditional_writes.cc",
    ("the row may change between reading and commit (rule 5)", "  conditions.push_back(row.ConditionOf(entry.table_id, entry.row_key()));\n", ""),
    ("the other branch is taken", "matched ? mutations.if_matched : mutations.if_not_matched;",
     "matched ? mutations.if_not_matched : mutations.if_matched;"),
    ("the form of a branch that is not taken is not looked at",
     "if (mutation->count() > 0) STELE_RETURN_IF_ERROR(CheckForm(row_key, *mutation, schema));", ""),
    ("an older cell than the one it replaces", "column->timestamp = std::max(column->timestamp, cell.timestamp().micros());", ""),
    ("a rule does not see the one before", "if (!is_new) return column;", ""),
    ("a rule on a large value is a small write (rule 21)", "if (bytes > *turn_bytes && ", "if (false && "),
    ("an empty value counts as zero", "if (value.size() != sizeof(int64_t)) {", "if (!value.empty() && value.size() != sizeof(int64_t)) {"),
)
plant(
    "model", MODEL, "src/db/seal.cc",
    ("the seal ends below the newest condemned version (rule 8)", "return cell.timestamp + 1;", "return cell.timestamp;"),
)
plant(
    "model", MODEL, "src/db/engine_state.cc",
    ("frozen memtables are read oldest first (rule 1)",
     "for (auto it = memory.frozen.rbegin(); it != memory.frozen.rend(); ++it)",
     "for (auto it = memory.frozen.begin(); it != memory.frozen.end(); ++it)"),
)
plant(
    "model", MODEL, "src/db/write_attempt.cc",
    ("the seal stands behind what its batch writes (rule 8)", "  AppendSeals(plan, seals, &writer);\n", ""),
)
plant(
    "model", MODEL, "src/manifest/stack_edits.cc",
    ("DropRowRange leaves what is in narrowed files", "if (!part.Overlaps(RowsOf(*reference.file))) continue;",
     "part.start = reference.range.start;"),
)
plant(
    "aggregate", ["unit_merge"], "src/merge/row_merge.cc",
    ("only the newest source's deltas count (rule 15)", "      AddDelta(version, &*merged);\n", ""),
)
plant(
    "aggregate", ["unit_memtable"], "src/memtable/cell_list.cc",
    ("a delta's node goes beyond a tombstone", "&& node->commit() > last_tombstone_;", ";"),
    ("a delta's node forgets what the one before it held", "span.since = older->delta_span().since;", "span.since = older->commit();"),
)
plant(
    "memtable", ["unit_memtable"], "src/memtable/cell_list.cc",
    ("a link does not know of what was inserted below it", "    tower->path[level]->newest.store(node->sequence(), std::memory_order_relaxed);\n", ""),
    ("the part of a link that is cut off forgets how new it is", "    own.newest.store(before.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);\n", ""),
    ("the first links know nothing of the cells before them", "    tower->links[level].newest.store(newest, std::memory_order_relaxed);\n", ""),
    ("a link that was cut looks as new as the row", "own.newest.store(before.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);",
     "own.newest.store(UINT64_MAX, std::memory_order_relaxed);"),
)
plant(
    "memtable", ["unit_memtable"], "src/memtable/memtable_cursor.cc",
    ("a column's delete hides the next column", "ranges_met_ && CompareColumn(ranges_column_, read.identity()) == 0;", "ranges_met_;"),
    ("a family's delete hides the next family", "{{.family = read.family() + 1, .kind = CellKind::kDeleteFamily}, kNewestCommit};",
     "{{.family = read.family() + 2, .kind = CellKind::kDeleteFamily}, kNewestCommit};"),
)
plant(
    "aggregate", ["unit_memtable"], "src/memtable/memtable_cursor.cc",
    ("deltas below a delete are folded in", "!= 0 || IsHidden(*older)) return nullptr;", "!= 0) return nullptr;"),
)
plant(
    "aggregate", ["unit_cell"], "src/cell/fold.cc",
    ("a minimum is a maximum", "is_less == (kind_ == CellKind::kMin)", "is_less == (kind_ == CellKind::kMax)"),
)
plant(
    "aggregate", ["unit_cell"], "src/base/hll.cc",
    ("of two entries of one index the older stays", "is_same ? std::max(entry, *old_entry++) : entry", "is_same ? *old_entry++ : entry"),
    ("a varint longer than it need be is taken for good", " || before - reader.remaining() != static_cast<size_t>(std::bit_width(step | 1) + 6) / 7) return false;",
     ") return false;"),
)
plant(
    "aggregate", ["unit_mutation"], "src/mutation/check.cc",
    ("any state is taken for good", "if (op.kind != Kind::kMerge || MergesNothing(op) || IsDeltaValue(KindOf(type), op.value)) return absl::OkStatus();",
     "if (true) return absl::OkStatus();"),
)
TOKENS = ["unit_db --gtest_filter=*Token*", "crash_test --gtest_filter=Token*", "concurrency_test --gtest_filter=Token*"]
plant(
    "token", ["unit_db --gtest_filter=*Token*:EngineRulesRaceTest.*"], "src/db/committer.cc",
    ("the leader does not look whether the token was used meanwhile",
     "if (request.token.has_value() && may_be_written(*request.token)) {", "if (false) {"),
)
plant(
    "token", TOKENS, "src/db/committer.cc",
    ("a group has a token twice", "!is_repeat && rows.Spare(", "rows.Spare("),
)
plant(
    "token", TOKENS, "src/mutation/batch.cc",
    ("a token gets no time", "  if (stamp_place != 0) StoreFixed64(", "  if (false) StoreFixed64("),
)
plant(
    "token", TOKENS, "src/manifest/token_table.cc",
    ("a token is remembered too long", "std::chrono::microseconds(kTokenMemoryMicros - 1)", "std::chrono::microseconds(kTokenMemoryMicros)"),
)
plant(
    "token", TOKENS, "src/db/write_path.cc",
    ("a bulk's repeat begins anew", "if (batch->done.Covering(i) != nullptr) continue;", ""),
)
plant(
    "token", TOKENS, "src/db/conditional_writes.cc",
    ("a branch without changes does not use its token up", "if (mutation->count() == 0 && !used.unchanged.has_value()) return branch;",
     "if (mutation->count() == 0) return branch;"),
    ("a repeat answers no row", "record.row = EncodeAnsweredRow(changed);", ""),
)
plant(
    "token", TOKENS, "src/db/local_database.cc",
    ("the tokens' table is listed", "if (table_id != kTokenTableId) names.push_back", "names.push_back"),
)

plant(
    "memory", ["unit_base --gtest_filter=SlabMemory.*"], "src/base/slab_memory.cc",
    ("what is idle is never given back", "if (idle_bytes.load(std::memory_order_relaxed) > kIdleBytesMax) Purge();", ""),
    ("a slot's last frame counts as nobody's", "return ((slot + 1) * slot_bytes_ - 1) / frame_bytes_;", "return slot * slot_bytes_ / frame_bytes_;"),
    ("slabs without a slot in use stay mapped", "    Unlink(slab);\n    unused.reset(slab);\n", ""),
    ("a child of a fork may find a lock taken", "    ::pthread_atfork(", "    if (false) ::pthread_atfork("),
)
plant(
    "memory", ["unit_sstable --gtest_filter=BudgetTest.*"], "src/sstable/row_group_loader.cc",
    ("a row group's arrays are not charged", "  units->ChargeAll();\n", ""),
)
plant(
    "memory", ["unit_base --gtest_filter=MemoryBudget.*"], "src/base/memory_budget.h",
    ("charges may come to all of the budget", "charged_bytes_max_(budget_bytes - uncharged_bytes)", "charged_bytes_max_(budget_bytes)"),
)
plant(
    "memory", ["unit_db --gtest_filter=MemoryBudgetTest.*"], "src/db/engine.cc",
    ("nothing of the budget is left to what nobody charges", "std::min(memory_budget_bytes / 4, 16 * kMiB)", "uint64_t{0}"),
)
plant(
    "memory", ["unit_db --gtest_filter=MemoryBudgetTest.*"], "src/read/row_stream.cc",
    ("the row shown goes with its memtable", "    kept_blocks_.push_back(std::move(block));\n", ""),
)
plant(
    "memory", ["unit_read --gtest_filter=ReaderRestTest.*"], "src/read/reader_rest.cc",
    ("word that is left during a call is forgotten", "    take_up_();\n    state = kHeld;\n", "    state = kHeld;\n"),
)
plant(
    "memory", ["unit_db --gtest_filter=ViewSpillTest.*"], "src/db/pinned_views.cc",
    ("readers at rest are told of nothing", "  for (const std::shared_ptr<ReaderRest>& reader : readers) reader->ViewReplaced();\n", ""),
)
plant(
    "memory", ["unit_db --gtest_filter=MemoryBudgetTest.*"], "src/db/load_files.cc",
    ("what a bulk load builds is not charged", "    charge_.Set(builder_->memory_bytes());\n", ""),
    ("what a bulk load built stays charged", "  builder_.reset();\n  charge_.Set(0);\n  if", "  builder_.reset();\n  if"),
)
plant(
    "memory", ["unit_merge --gtest_filter=DeferredValuesTest.*"], "src/merge/retention_cursor.cc",
    ("values of condemned cells are read", "    Filter(cells, begin);\n    SkipCondemned();\n",
     "    if (policy_.reads_deferred && !ReadDeferred(cells, begin)) return false;\n    Filter(cells, begin);\n    SkipCondemned();\n"),
    ("a value that cannot be read ends the row as if all were well", "return status_.ok() ? input_->status() : status_;", "return input_->status();"),
)
plant(
    "memory", ["unit_merge --gtest_filter=DeferredValuesTest.*"], "src/merge/retention_cursor.cc",
    ("where rules keep everything values stay unread", " && !policy.reads_deferred) return input;", ") return input;"),
)
plant(
    "merge", ["unit_merge --gtest_filter=DeferredValuesTest.*"], "src/merge/row_merge.cc",
    ("history is read on behind the newest", "  EndHistory();\n", ""),
    ("what is hidden behind the newest brings history back", " && !has_version_;", ";"),
    ("a batch of a shared column goes on behind a large value", " && !EndsBatch(*cells, begin)) {\n    const Cell* next", ") {\n    const Cell* next"),
)
plant(
    "filter", ["unit_db --gtest_filter=ReadStatsTest.*"], "src/filter/program.cc",
    ("large versions are read to be dropped", " || last.value.size() >= kBatchEndingBytes", ""),
)
plant(
    "read", ["unit_db --gtest_filter=EngineRulesRaceTest.*"], "src/db/seal.cc",
    ("the floor of a sealed delete costs values", ", .defers_values = true", ""),
)
plant(
    "concurrency", ["concurrency_test --gtest_filter=CompactionThreads*"], "src/db/background.cc",
    ("one compaction at a time", "poison().ok()) return false;\n  return true;", "poison().ok()) return false;\n  return running_compactions_ == 0;"),
    ("compactions are as urgent as anything", "  if (duty == Duty::kCompaction) YieldToOthers();\n", ""),
)
plant(
    "commit", ["unit_db --gtest_filter=WriteThrottleTest.*"], "src/db/write_throttle.cc",
    ("each writer has the debt's rate for itself", "std::max(debt_turn_next_, now)", "std::clamp(debt_turn_next_, now, now + kTurnMax)"),
    ("a large write has all its turns at once", "std::min(bytes, most)", "bytes"),
    ("turns outlast the debt", " && pressure_now > kPressureFree", ""),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/merge_policy.cc",
    ("a pile is merged in one job", "    if (tier.sources > kFanInMax) return OldestOf(groups, tier);\n", ""),
    ("of a pile the newest part is merged first, over and over", "return OldestOf(groups, tier);",
     "return Extended(groups, {tier.begin, tier.begin + kFanInMax, 0, kFanInMax}, 0);"),
)
plant(
    "picker", ["unit_compaction"], "src/compaction/picker.cc",
    ("a neighbour's pile is taken along", " && run->sources <= std::max(kFanInMax, seed.run.sources)", ""),
)
plant(
    "io", ["unit_io --gtest_filter=FilePoolTest.*"], "src/io/file_pool.cc",
    ("a file is closed under who reads it", "uint64_t at_rest = kOpen;", "uint64_t at_rest = state;"),
    ("being read counts for nothing when a file is to be closed", "if ((before & kUsed) == 0) state_.fetch_or(kUsed, std::memory_order_relaxed);", ""),
    ("one more than the bound is open", "while (open_count_ >= open_max) {", "while (open_count_ > open_max) {"),
    ("a failure to open keeps the place", "      pool_.GiveUpReserved();\n", ""),
    ("a file that goes leaves its place taken", "  ring_.erase(file->place);\n  --open_count_;", "  ring_.erase(file->place);"),
)
plant(
    "io", ["unit_io --gtest_filter=PosixTest.*"], "src/io/posix_descriptor.cc",
    ("at the process's limit nothing gives way", "(lacks_descriptors && PosixFilePool().CloseOne())", "(lacks_descriptors && false)"),
    ("files that are only read take the whole limit", "limit.rlim_cur / 2", "limit.rlim_cur"),
)
plant(
    "io", ["unit_io --gtest_filter=PosixTest.*"], "src/io/posix_file_system.cc",
    ("a file of a held directory is opened again by path", "[place = At(path), held = held_]", "[place = Place{path, AT_FDCWD, path}, held = held_]"),
    ("files of a held directory are removed by path", "::unlinkat(place.directory, place.name.c_str(), 0)",
     "::unlinkat(AT_FDCWD, path.c_str(), 0)"),
)
plant(
    "commit", ["unit_db --gtest_filter=BulkLoadTest.*"], "src/db/bulk_load.cc",
    ("a load that ends keeps its place", "if (std::exchange(has_place_, false)) engine_.loads.GiveBackPlace();", ""),
)
plant(
    "aggregate", ["unit_mutation"], "src/mutation/check.cc",
    ("a merge of nothing makes a cell", "    if (MergesNothing(op)) return absl::OkStatus();\n", ""),
)
