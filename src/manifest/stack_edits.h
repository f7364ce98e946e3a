// manifest/stack_edits.h: computes the new stacks for an install. Pure functions from the state at
// install to tablet edits.
//
// Used by:   jobs/job_runner.cc (flush, compaction, split and merge of tablets),
//            admin/bulk_load.cc, admin/table_admin.cc (drop). They put the result into
//            TableEdit::tablets, and the installer appends the edit (commit/installer.h).
// Invariants: if the given stacks satisfy the invariants of version.h and the following ones, so do
//            the results. A stack is sorted by its references' newest sequences, descending. So
//            references with one commit interval (parts of one file, files of one bulk load) are
//            adjacent, and so are the references of an *overlap cluster*: those whose intervals
//            overlap, directly or through others. The intervals of clusters descend and do not
//            overlap. References with overlapping intervals have no row in common. Clusters of
//            several intervals arise when a tablet merge joins references that were compacted
//            separately. A compaction takes whole clusters, since its output represents all commits
//            between the first and last of its inputs. It may also take references of one interval,
//            if no other reference of that interval has rows between theirs.
// Jobs:      a job names its inputs as they were when it began. Only Excise may have changed them
//            since, so the remaining parts of each input are found by file and commits. If another
//            install replaced an input, the result is FailedPrecondition, and the job's output is
//            discarded.
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

// The range from the file's first row to its last; empty for a file without rows.
KeyRange RowsOf(const SstableFile& file);

// Returns the tablet edit that describes the tablet as it is.
TabletEdit TabletEditOf(const Tablet& tablet);

// Puts the files on top of every tablet that their rows touch. The rows of the files do not
// overlap. Each reference is narrowed to the rows that the file and the tablet have in common. A
// flush installs one file, a bulk load all of its files.
std::vector<TabletEdit> InstallFiles(const TableState& table, std::span<const SstableFile> files,
                                     uint64_t sequence_first, uint64_t sequence_last);
std::vector<TabletEdit> InstallFlush(const TableState& table, const SstableFile& file,
                                     uint64_t sequence_first, uint64_t sequence_last);

// Replaces the remaining parts of `inputs` (newest first) by the output, or by nothing. The new
// reference has the commits of all inputs. It covers the rows of the inputs without those that were
// dropped since the job began. If rows in the middle were dropped, there are several references; if
// all were dropped, there is none. Other references that share commits with the inputs must not
// have rows between theirs.
absl::StatusOr<TabletEdit> InstallCompaction(const TableState& table, const KeyRange& tablet_range,
                                             std::span<const SstableReference> inputs,
                                             const std::optional<SstableFile>& output);

// Gives the remaining parts of `inputs` (as above) the commit interval of all of them, in the order
// of their rows. No row may be in two of them.
absl::StatusOr<TabletEdit> InstallMetadataMerge(const TableState& table,
                                                const KeyRange& tablet_range,
                                                std::span<const SstableReference> inputs);

// Removes the remaining parts of the references from the tablet's stack.
absl::StatusOr<TabletEdit> InstallDrop(const TableState& table, const KeyRange& tablet_range,
                                       std::span<const SstableReference> dropped);

// Splits a tablet in two; the second begins at `row_key`, which is in the tablet and not its start.
// References are narrowed to the halves. A reference whose file has no rows in a half is left out
// there.
absl::StatusOr<std::vector<TabletEdit>> SplitTablet(const Tablet& tablet,
                                                    const std::string& row_key);

// Merges adjacent tablets (ascending) into one. Each reference keeps its rows. Two references to
// the same file with the same interval and adjacent rows become one, as before a split.
absl::StatusOr<TabletEdit> MergeTablets(std::span<const Tablet> tablets);

// Removes the range from every tablet (engine rule 14): references inside it are removed, others
// are narrowed, and one that contains the range becomes two with the same interval. Apart from the
// range, a reference keeps all rows between the first and the last row of its file, so that
// InstallCompaction can determine which rows were dropped. Returns only tablets that change.
// `has_no_row` returns true if a reference's file has no row in the range: then the reference is
// kept. Null: every file may have such rows.
std::vector<TabletEdit> Excise(
    const TableState& table, const KeyRange& range,
    const std::function<bool(const SstableReference&)>& has_no_row = nullptr);

}  // namespace stele::internal
