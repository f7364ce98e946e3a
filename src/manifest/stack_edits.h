// manifest/stack_edits.h: the new stacks that an install writes down: pure functions from the state at install to tablet edits.
//
// Path:      db install (flush, bulk load, compaction, drop, excision, split and merge of tablets) -> here -> TableEdit::tablets ->
//            ManifestLog::Append.
// Invariants: the stacks that come out keep those of version.h when the ones that went in did, and these: a stack descends by its
//            references' newest sequences, so references of one interval (pieces of one file, files of one bulk load) are neighbours, and
//            so are the references of a *group*: those whose intervals overlap, directly or through others. Groups descend as a whole.
//            Their members' rows do not overlap where their intervals do: a merge of tablets puts the references of both halves, compacted
//            each in its own way, side by side. A compaction takes whole groups, for its output sums up all commits between its inputs'
//            first and last, or references of one interval between whose rows nothing else of their commits has any.
// Jobs:      a job names its inputs as they were when it began. Excise and nothing else may have
//            changed them since: of each input, what is left is found by file and commits. What
//            another install replaced is FailedPrecondition, and the job's result is discarded.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/edit.h"
#include "manifest/version.h"

namespace stele::internal {

// The rows from the file's first to its last, as a range; empty for a file without rows.
KeyRange RowsOf(const SstableFile& file);

// The stack as an edit says it.
TabletEdit EditOf(const Tablet& tablet);

// Puts the files, whose rows do not overlap each other, on top of every tablet that their rows touch; each tablet's reference is narrowed
// to the rows of both. A flush installs one file, a bulk load all of its.
std::vector<TabletEdit> InstallFiles(const TableState& table, std::span<const SstableFile> files, uint64_t sequence_first,
                                     uint64_t sequence_last);
std::vector<TabletEdit> InstallFlush(const TableState& table, const SstableFile& file, uint64_t sequence_first, uint64_t sequence_last);

// Replaces what is left of `inputs` (newest first) by the output, or by nothing, under the
// commits of all inputs. The output shows the rows that are left: those of the inputs, without
// what each of them lost since the job began. Where rows in the middle were lost it becomes
// several references; where all were lost it becomes none. References that share commits with the
// inputs and are none of them must not have rows between theirs.
absl::StatusOr<TabletEdit> InstallCompaction(const TableState& table, const KeyRange& tablet_range,
                                             std::span<const SstableReference> inputs, const std::optional<SstableFile>& output);

// Gives what is left of `inputs` (as above) the interval of all of them, in the order of their
// rows; no row may be in two of them.
absl::StatusOr<TabletEdit> InstallMove(const TableState& table, const KeyRange& tablet_range, std::span<const SstableReference> inputs);

// Removes what is left of the references, wherever it stands in the tablet's stack.
absl::StatusOr<TabletEdit> InstallDrop(const TableState& table, const KeyRange& tablet_range, std::span<const SstableReference> dropped);

// Two tablets for one, the later from `row_key` on, which lies in the tablet and not at its start. References are narrowed to the halves;
// one whose file ends before a half, or begins behind it, is not carried into it.
absl::StatusOr<std::vector<TabletEdit>> SplitTablet(const Tablet& tablet, const std::string& row_key);

// One tablet for neighbours, ascending. Each reference keeps its rows, but that two of the same file and interval whose rows touch become
// one, as they were before a split.
absl::StatusOr<TabletEdit> MergeTablets(std::span<const Tablet> tablets);

// Takes the range out of every tablet (engine rule 14): references inside it go, others are
// narrowed, and one that it cuts in the middle becomes two of one interval. A reference loses
// nothing else between the first and the last row of its file: from what it lost,
// InstallCompaction tells which rows were dropped. Only tablets that change are answered.
// `is_spared` tells whether a reference's file has no row of the range: then the reference stays
// whole. Null: every file may have some.
std::vector<TabletEdit> Excise(const TableState& table, const KeyRange& range,
                               const std::function<bool(const SstableReference&)>& is_spared = nullptr);

}  // namespace stele::internal
