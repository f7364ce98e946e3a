// manifest/stack_edits.h: the new stacks that an install writes down: pure functions from the state at install to tablet edits.
//
// Path:      db install (flush, bulk load, compaction, drop, excision) -> here -> TableEdit::tablets -> ManifestLog::Append.
// Invariants: the stacks that come out keep those of version.h when the ones that went in did. All that is put on top is newer than all
//            below it, so stacks descend as a whole; references of one interval (pieces of one file, files of one bulk load) are
//            neighbours.
// Errors:    FailedPrecondition when the state has moved on and the job's result must be discarded.
// Threads:   pure functions.
#pragma once

#include <cstdint>
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

// Replaces `inputs` (references as they were when the job began, newest first) by the output, or by nothing. The output sees the rows of
// both itself and the inputs, under all their commits.
absl::StatusOr<TabletEdit> InstallCompaction(const TableState& table, const KeyRange& tablet_range,
                                             std::span<const SstableReference> inputs, const std::optional<SstableFile>& output);

// Removes the references, wherever they stand in the tablet's stack.
absl::StatusOr<TabletEdit> InstallDrop(const TableState& table, const KeyRange& tablet_range, std::span<const SstableReference> dropped);

// Takes the range out of every tablet (engine rule 14): references inside it go, others are narrowed, and one that it cuts in the middle
// becomes two of one interval. Only tablets that change are answered.
std::vector<TabletEdit> Excise(const TableState& table, const KeyRange& range);

}  // namespace stele::internal
