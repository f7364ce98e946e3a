// admin/load_files.h: writes the SSTables of one bulk load, one after the other, before an edit
// references them.
//
// Used by:   admin/bulk_load.cc.
// Calls:     jobs/job_context.h for a new file, sstable/write/sstable_builder.h.
// Rules:     a file gets rows until it has `file_bytes` before compression; rows are not
//            divided. A complete file is synced at once, so that the end of a load does not wait
//            for all of them; the directory is synced last (engine rule 22).
// Cost:      mostly compression, partly on a helper thread unless the engine has no threads. A few
//            MiB of memory.
// Errors:    those of the file system; the caller must call Remove then.
// Threads:   confined to its load.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/memory_tracker.h"
#include "cell/cell.h"
#include "io/file_system.h"
#include "jobs/job_context.h"
#include "jobs/single_thread_executor.h"
#include "manifest/version.h"
#include "sstable/write/sstable_builder.h"

namespace stele::internal {

struct LoadFilesOptions {
  JobContext context;
  uint64_t file_bytes = 0;  // a file of this size is complete
  bool may_use_thread = false;
  // Called before each file and regularly while one is written. An error ends the load.
  std::function<absl::Status()> check_room;
  // Returns the newest commit now, for the edits in the files (EncodeFileEdit).
  std::function<uint64_t()> newest_sequence;
};

class LoadFiles {
 public:
  explicit LoadFiles(const LoadFilesOptions& options);

  // Rows must ascend, also if the definition changes between two calls. The cells' families are
  // indexes in `definition`.
  absl::Status AddRow(const TableDefinition& definition, std::string_view row_key,
                      std::span<const Cell> cells);
  // Completes the current file; all files are durable then.
  absl::Status Finish();
  // Removes the files from disk. Called at most once, and nothing after it.
  void Remove();

  // The files after they are complete, by row; without the commit time, which is not known yet.
  const std::vector<SstableFile>& files() const { return files_; }

 private:
  absl::Status BeginFile(const TableDefinition& definition);
  absl::Status CloseFile();

  const LoadFilesOptions options_;
  SingleThreadExecutor compression_executor_;
  std::vector<SstableFile> files_;  // complete
  std::unique_ptr<File> file_;      // the current file
  std::unique_ptr<SstableBuilder> builder_;
  SstableJob job_;  // of the current file
  std::vector<uint32_t> family_ids_;
  uint64_t raw_bytes_ = 0;         // of its rows
  uint64_t charged_at_bytes_ = 0;  // raw_bytes_ when the builder was charged last
  MemoryCharge charge_;            // for the current file (kJobs)
};

}  // namespace stele::internal
