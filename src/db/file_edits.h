// db/file_edits.h: makes a Version from the edits that SSTables have in their footers, if all
// manifests are lost.
//
// How:       every file is placed where the job that wrote it placed it. The output of a compaction
//            replaces its inputs there, if they still exist. The order of files follows from their
//            commits. A table has one tablet, and its newest definition. An edit without
//            `flushed_through` is that of a bulk load, which replaces no file.
// Lost:      which rows were dropped after a file was written: they are visible again. Tables
//            without SSTables.
// Errors:    InvalidArgument if the edits contradict each other.
// Threads:   pure functions.
#pragma once

#include <cstdint>
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

// Every file must name its table.
absl::StatusOr<std::shared_ptr<const Version>> VersionFromFiles(std::vector<FileWithEdit> files);

}  // namespace stele::internal
