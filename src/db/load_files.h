// db/load_files.h: the SSTables of one bulk load, written one after the other, before any edit knows them.
//
// Path:      db/bulk_load.cc -> here -> sstable builder -> io.
// Rules:     a file takes rows until it has `load_file_bytes` of them before compression; no row is divided. Complete ones are synced
//            at once, so that the end of a load does not wait for all of it; their directory is synced last (engine rule 22).
// Cost:      compression is most of it, and is shared with a thread of the load's own, unless the engine is to have none. Memory for a
//            few MiB.
// Errors:    those of the file system; what was written is then to be removed.
// Threads:   confined to its load.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/memory_budget.h"
#include "cell/cell.h"
#include "db/side_thread.h"
#include "io/file_system.h"
#include "manifest/version.h"
#include "sstable/sstable_builder.h"

namespace stele::internal {

class Engine;

class LoadFiles {
 public:
  explicit LoadFiles(Engine* engine);

  // Rows ascend, also over calls with another definition: the families are those of `definition`.
  absl::Status AddRow(const TableDefinition& definition, std::string_view row_key, std::span<const Cell> cells);
  // Completes what was begun; all is durable then.
  absl::Status Seal();
  // From the disk; called once at most, and nothing after it.
  void Remove();

  // After Seal, by row; without the commit time, which is still to come.
  const std::vector<SstableFile>& files() const { return files_; }

 private:
  absl::Status BeginFile(const TableDefinition& definition);
  absl::Status CloseFile();

  Engine& engine_;
  SideThread side_;
  std::vector<SstableFile> files_;  // complete
  std::unique_ptr<File> file_;      // the one being written
  std::unique_ptr<SstableBuilder> builder_;
  uint64_t number_ = 0;  // its number
  std::vector<uint32_t> family_ids_;
  uint64_t raw_bytes_ = 0;         // of its rows
  uint64_t charged_at_bytes_ = 0;  // raw_bytes_ when the builder was charged last
  MemoryCharge charge_;            // of what it holds (kJobs)
};

}  // namespace stele::internal
