// views/sstable_files.h: the open SSTables of a database. Views share them, and they are removed
// from disk when they are no longer needed.
//
// Used by:   state/engine_state.cc calls Open for the files of a new view. commit/installer.cc
//            calls MarkObsolete for files that an edit dropped (after the edit is durable, engine
//            rule 22).
// Lifetime:  a file marked obsolete is removed when the last view that shows it is destroyed. After
//            StopRemoving (Close) no file is removed; the next Open finds and removes the rest.
// Threads:   thread-safe. A file is removed on the thread that destroys its last view.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "io/file_system.h"
#include "manifest/version.h"
#include "read/read_view.h"
#include "sstable/read/block_cache.h"

namespace stele::internal {

class SstableFiles {
 public:
  SstableFiles(FileSystem* file_system, std::string directory, BlockCache* cache);
  ~SstableFiles();

  // Opens the file, or returns the one that is open. A file that cannot be opened is returned, too,
  // with its status. Each request for its reader tries again, unless the file is corrupt.
  std::shared_ptr<const PinnedSstable> Open(const SstableFile& file);
  void MarkObsolete(uint64_t number);
  void StopRemoving();
  // The size of files that are obsolete and still pinned by a view.
  uint64_t pinned_bytes() const;

 private:
  class Entry;
  class Registry;
  const std::string directory_;
  std::shared_ptr<Registry> registry_;  // shared with the entries, which may outlive this object
};

}  // namespace stele::internal
