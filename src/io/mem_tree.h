// io/mem_tree.h: directories and names in memory, with POSIX's rules; what a name leads to is the file system's own.
//
// Path:      mem_file_system and crash_file_system keep their files here.
// Format:    paths are split at '/'; empty parts and "." are skipped, so "/a//b", "a/b" and "./a/b" are the same place. ".." is not known.
// Errors:    ErrnoStatus with the number the operating system would give.
// Threads:   thread-compatible: the file system's lock is held around every call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace stele::internal {

struct MemNode {
  explicit MemNode(FileKind node_kind) : kind(node_kind) {}
  virtual ~MemNode() = default;
  const FileKind kind;
  int link_count = 0;                                       // names that lead here
  std::map<std::string, std::shared_ptr<MemNode>> entries;  // of a directory
};
using MemNodePointer = std::shared_ptr<MemNode>;

// One name of one directory set to lead elsewhere (nullptr: removed).
struct EntryChange {
  MemNodePointer directory;
  std::string name;
  MemNodePointer node;
};

class MemTree {
 public:
  // Where a path leads: a name in a directory, and what stands there (nullptr: nothing). The root has no directory.
  struct Place {
    MemNodePointer directory;
    std::string name;
    MemNodePointer node;
  };

  explicit MemTree(MemNodePointer root) : root_(std::move(root)) {}
  const MemNodePointer& root() const { return root_; }

  // NotFound or a failed "not a directory" for a path whose parent is not there; `call` names the caller in the text.
  absl::StatusOr<Place> Find(std::string_view call, const std::string& path) const;
  // Find, and NotFound when nothing stands there.
  absl::StatusOr<Place> FindExisting(std::string_view call, const std::string& path) const;
  // Find, and AlreadyExists when something stands there.
  absl::StatusOr<Place> FindVacant(std::string_view call, const std::string& path) const;
  // A regular file.
  absl::StatusOr<Place> FindFile(std::string_view call, const std::string& path) const;
  absl::StatusOr<MemNodePointer> FindDirectory(std::string_view call, const std::string& path) const;

  // Each answers what an operation would change and changes nothing; Apply then does it.
  absl::StatusOr<std::vector<EntryChange>> PlanRename(const std::string& from, const std::string& to) const;
  absl::StatusOr<std::vector<EntryChange>> PlanRemove(const std::string& path) const;
  absl::StatusOr<std::vector<EntryChange>> PlanRemoveDirectory(const std::string& path) const;
  absl::StatusOr<std::vector<EntryChange>> PlanLink(const std::string& from, const std::string& to) const;
  static void Apply(const std::vector<EntryChange>& changes);

  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) const;

 private:
  MemNodePointer root_;
};

}  // namespace stele::internal
