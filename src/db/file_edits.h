// db/file_edits.h: adds SSTables to a Version from the edits in their footers, if the manifest that
// listed them is damaged or lost.
//
// How:       every file is placed where its job placed it. The output of a compaction replaces the
//            inputs that its edit names. It also replaces older files whose commits are among those
//            of the inputs. They were inputs of an earlier compaction, because two references to
//            the same rows have no commit in common (engine rule 1).
// Not added: files that a readable edit lists. If the Version lacks one, an edit removed it.
// Loads:     the edit of a bulk load has no `flushed_through`. It has the newest commit before the
//            load, not the load's own. If no other file shows the load's commit, it gets the next
//            commit that no file of its rows has.
// Lost:      drops. Rows that were dropped after a file was written are visible again.
// Errors:    InvalidArgument if the edits contradict each other, or take too long to apply.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/edit.h"

namespace stele::internal {

// An SSTable and the edit in its footer.
struct FileWithEdit {
  SstableFile file;
  Edit edit;
};

// Returns false if the edit is not one that EncodeFileEdit makes for this file.
bool NamesItsTable(const FileWithEdit& file);

// Returns the newest definition of each table. Every file must name its table.
std::map<uint32_t, std::shared_ptr<const TableDefinition>> NewestDefinitions(
    const std::vector<FileWithEdit>& files);

// Adds files to the Version. `files` has each file that names its table, including those that the
// Version already has. `described` are the numbers of the files that readable edits of the manifest
// described. If the result has no reference to a file, other files replace or contradict it. The
// definition of a table is the newest one that the Version or a file has.
absl::StatusOr<std::shared_ptr<const Version>> AddFiles(const Version& version,
                                                        const std::vector<FileWithEdit>& files,
                                                        const std::set<uint64_t>& described);

}  // namespace stele::internal
