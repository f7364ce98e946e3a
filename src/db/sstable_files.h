// db/sstable_files.h: the open SSTables of a database, shared by views, and removed from disk when no one needs them any more.
//
// Path:      db install -> Open for what an edit added, MarkObsolete for what it dropped (after the edit is durable, engine rule 22).
// Lifetime:  a file marked obsolete is removed when the last view that shows it goes; after StopRemoving (Close) nothing is removed, and
//            what is left is found and removed by the next Open.
// Threads:   thread-safe. Removing a file happens on the thread that lets the last view go.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "io/file_system.h"
#include "manifest/version.h"
#include "read/read_view.h"
#include "sstable/block_cache.h"

namespace stele::internal {

class SstableFiles {
 public:
  SstableFiles(FileSystem* file_system, std::string directory, BlockCache* cache);
  ~SstableFiles();

  // Opens the file, or hands out the one that is open. A file that cannot be opened is handed out too, with its status; whoever asks it for
  // a reader tries again, unless it is damaged.
  std::shared_ptr<const PinnedSstable> Open(const SstableFile& file);
  void MarkObsolete(uint64_t number);
  void StopRemoving();
  // Of files that are obsolete and still pinned by a view.
  uint64_t pinned_bytes() const;

 private:
  class Entry;
  class Registry;
  const std::string directory_;
  std::shared_ptr<Registry> registry_;  // shared with the entries, which may outlive this
};

}  // namespace stele::internal
