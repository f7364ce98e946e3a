// db/file_edits.h: adds SSTables to a Version from the edits in their footers, if the manifest that
// listed them is damaged or lost.
//
// How:       every file is placed where the job that wrote it placed it. The output of a compaction
//            replaces its inputs there: those with lower numbers and only commits of the output. So
//            a file that the Version replaced already is not added. The order of files follows from
//            their commits. A table that the Version lacks gets one tablet.
// Bulk loads: an edit without `flushed_through` is that of a bulk load. It has the newest commit
//            before the load instead of the load's own, and replaces no file. The load is placed
//            at the first later commit that no file of its rows has.
// Lost:      which rows were dropped after a file was written: they are visible again.
// Errors:    InvalidArgument if the edits contradict each other, or take too long to apply.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

// Adds files that the Version does not have. Every file must name its table. A file of which the
// result has no reference is replaced by others, or contradicts them.
absl::StatusOr<std::shared_ptr<const Version>> AddFiles(const Version& version,
                                                        std::vector<FileWithEdit> files);

}  // namespace stele::internal
